import type { COMMANDS, CommandName, EVERYWHERE } from './parse-command.ts';

/** What people are told about a command. */
export interface CommandText<F extends string = string> {
  /** What it does, in half a sentence. */
  readonly about: string;
  /** What it does not say of itself. */
  readonly more?: string;
  readonly options: Readonly<Record<F, string>>;
  /** Words after `croft state`. */
  readonly examples: readonly string[];
}

const USER = "the state of one user's home";
const PRINT_JSON = 'print JSON';
const YES = 'do not ask';

/** What every command takes. */
export const everywhereTexts: Readonly<Record<(typeof EVERYWHERE)[number], string>> = {
  debug: "send the daemon's debug lines, too",
  address: 'the daemon of another machine, over TLS',
  ca: '--address: the authority that signed its certificate (those of the system)',
  cert: '--address: who you are, as a client certificate, with --key',
  key: '--address: the private key of --cert',
  token: '--address: who you are, as an access token',
};

/** Of every command what it is for, and of each of its options. */
export const commandTexts: {
  readonly [N in CommandName]: CommandText<(typeof COMMANDS)[N]['flags'][number]>;
} = {
  list: {
    about: 'the machines of this host',
    more: '`croft state show` lists the states of one.',
    options: { json: PRINT_JSON },
    examples: ['list', 'list --json'],
  },
  show: {
    about: 'a machine and its states, newest first',
    more: 'Without a machine it is the one that runs; `croft state list` names them.',
    options: { json: PRINT_JSON, full: 'also ids, datasets, kernels and descriptions' },
    examples: ['show', 'show --full'],
  },
  save: {
    about: "save this machine and its users' homes; without a name it is automatic",
    more: 'Names have letters, digits and . _ : -; automatic states go when the policy no longer keeps them.',
    options: {
      user: 'save the home of one user and nothing else',
      json: PRINT_JSON,
      'boot-menu': 'update the boot menu afterwards',
      auto: 'mark the state as automatic',
    },
    examples: ['save before-upgrade', 'save mine --user ada'],
  },
  remove: {
    about: 'remove a state and the content that only it uses',
    more: 'On a terminal it shows first what goes, and asks.',
    options: {
      user: USER,
      force: 'also what is pinned or belongs to a system state, and on ZFS what was cloned from it',
      'dry-run': 'only say what would be done',
      yes: YES,
    },
    examples: ['remove before-upgrade --dry-run', 'remove before-upgrade', 'remove mine --user ada --yes'],
  },
  adopt: {
    about: 'keep the states of a machine on ZFS from now on, and take over homes and states of ZSys',
    more: 'Without a machine it is the one that runs; a pool or dataset names one, too. On a terminal it shows first what it takes over, and asks.',
    options: { 'dry-run': 'only say what would be taken over', json: PRINT_JSON, yes: YES },
    examples: ['adopt --dry-run', 'adopt', 'adopt rpool/ROOT/ubuntu --yes'],
  },
  restore: {
    about: 'put what a state holds into an empty or new folder',
    more: 'It reads the vault itself, as the user who runs it. To have the machine itself go back: `croft state revert`.',
    options: { user: USER },
    examples: ['restore before-upgrade /tmp/back'],
  },
  describe: {
    about: "write down what somebody should know of a state; '' takes it away",
    options: { user: USER },
    examples: ["describe before-upgrade 'all tests green'", "describe before-upgrade ''"],
  },
  pin: {
    about: 'keep a state from garbage collection and plain removal',
    options: { user: USER },
    examples: ['pin before-upgrade'],
  },
  unpin: {
    about: 'keep it no longer',
    options: { user: USER },
    examples: ['unpin before-upgrade'],
  },
  diff: {
    about: 'what differs from another state, or from what is there now',
    more: '+ was added, ~ changed and - removed since the first state.',
    options: { user: USER, times: 'modification times count', json: 'a line of JSON each' },
    examples: ['diff before-upgrade', 'diff before-upgrade after-upgrade --times'],
  },
  revert: {
    about: 'go back to a state at the next boot',
    options: { users: 'homes, too', yes: YES },
    examples: ['revert before-upgrade', 'revert before-upgrade --users --yes'],
  },
  'revert-cancel': {
    about: 'go back to no state at the next boot',
    options: {},
    examples: ['revert-cancel'],
  },
  export: {
    about: 'write a state with all it holds to a file',
    options: {
      user: USER,
      users: 'also the states of users that were saved with it',
      output: 'where to, a file that is not there yet (<state>.tar; - for standard output)',
    },
    examples: ['export before-upgrade', 'export before-upgrade --users -o /tmp/all.tar'],
  },
  import: {
    about: 'take an exported state in, as one of this machine (- for standard input)',
    more: 'Without a name it keeps its own.',
    options: { json: PRINT_JSON },
    examples: ['import before-upgrade.tar', 'import before-upgrade.tar from-the-old-host'],
  },
  watch: {
    about: 'tell what happens, until it is interrupted',
    options: { json: 'a line of JSON each' },
    examples: ['watch', 'watch --json'],
  },
  gc: {
    about: 'remove the automatic states that the policy does not keep',
    options: { all: 'also states that somebody named', yes: YES },
    examples: ['gc', 'gc --all'],
  },
  users: {
    about: 'the homes that are saved with machines',
    options: { json: PRINT_JSON },
    examples: ['users'],
  },
  'users create': {
    about: "make a home, or say where a user's is",
    more: 'What lies there is taken as it is. From then on it is saved with this machine.',
    options: {},
    examples: ['users create ada /home/ada'],
  },
  'users move': {
    about: 'move a home',
    options: {},
    examples: ['users move /home/ada /srv/ada'],
  },
  'users dissociate': {
    about: 'save a home with this machine no longer',
    options: { 'remove-home': 'delete what is in the home', yes: YES },
    examples: ['users dissociate ada', 'users dissociate ada --remove-home'],
  },
  status: {
    about: 'how the daemon is',
    options: { json: PRINT_JSON },
    examples: ['status', 'status --json'],
  },
  dump: {
    about: 'everything the daemon knows, as JSON',
    options: { json: 'it is JSON either way' },
    examples: ['dump'],
  },
  trace: {
    about: 'look into the daemon',
    more: 'cpu is what it computes (a .cpuprofile), heap what it remembers (a .heapsnapshot), trace a line of JSON for each call.',
    options: {
      output: 'where to, a file that is not there yet (croft-state.cpuprofile; - for standard output)',
      duration: 'for so long, at most 600 (30; 0 for heap)',
    },
    examples: ['trace cpu', 'trace trace --duration 5 -o -'],
  },
  'log-level': {
    about: "the daemon's own log: warnings, information, debugging",
    more: 'Until it ends.',
    options: {},
    examples: ['log-level 2'],
  },
  refresh: { about: 'read the storage again', options: {}, examples: ['refresh'] },
  reload: { about: 'read the policy file again', options: {}, examples: ['reload'] },
  'update-menu': {
    about: 'write the boot menu',
    options: { auto: 'no failure where there is none' },
    examples: ['update-menu'],
  },
  'prepare-boot': {
    about: 'go back to the state that this boot names',
    more: 'The units of systemd run it at every boot.',
    options: { json: PRINT_JSON },
    examples: ['prepare-boot'],
  },
  'commit-boot': {
    about: 'this boot was good',
    more: 'The units of systemd run it at every boot.',
    options: { json: PRINT_JSON },
    examples: ['commit-boot'],
  },
  'last-used': {
    about: 'write down that this machine is in use',
    options: {},
    examples: ['last-used'],
  },
  stop: { about: 'end the daemon', options: {}, examples: ['stop'] },
  version: { about: "the daemon's version", options: { json: PRINT_JSON }, examples: ['version'] },
  completion: {
    about: 'a script that completes these words, for your shell',
    more: 'Its first lines say where the shell looks for it.',
    options: {},
    examples: ['completion bash'],
  },
};
