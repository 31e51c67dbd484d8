import type { OperationName } from '../wire.ts';
import type { ExtraName } from '../wire-extras.ts';

/** The words here for each operation of the daemon. */
const OPERATIONS: Readonly<Record<OperationName | ExtraName, string>> = {
  Version: 'version',
  Status: 'status',
  SaveSystemState: 'save',
  SaveUserState: 'save --user',
  RemoveSystemState: 'remove',
  RemoveUserState: 'remove --user',
  DumpStates: 'dump',
  MachineList: 'list',
  MachineShow: 'show --full',
  LoggingLevel: 'log-level',
  DaemonStop: 'stop',
  CreateUserData: 'users create',
  ChangeHomeOnUserData: 'users move',
  DissociateUser: 'users dissociate',
  PrepareBoot: 'prepare-boot',
  CommitBoot: 'commit-boot',
  UpdateBootMenu: 'update-menu',
  UpdateLastUsed: 'last-used',
  Refresh: 'refresh',
  Trace: 'trace',
  Reload: 'reload',
  GC: 'gc',
  Describe: 'describe',
  Pin: 'pin',
  Unpin: 'unpin',
  RequestRevert: 'revert',
  CancelRevert: 'revert-cancel',
  Diff: 'diff',
  Export: 'export',
  Import: 'import',
  Adopt: 'adopt',
  Watch: 'watch',
};

/** What the daemon says by its own words besides. */
const PHRASES: Readonly<Record<string, string>> = {
  'MachineShow with full': '`croft state show --full`',
  'with force': 'with --force',
  'name the user, too': 'name the user with --user',
  'name no user': 'leave --user out',
};

/** All others are words that mean something else in a sentence, unless it begins with them. */
const UNMISTAKABLE = Object.keys(OPERATIONS).filter((name) => /[a-z][A-Z]/.test(name) || name === 'Adopt');

const NAMES = new RegExp(
  `(?<!")\\b(${[...Object.keys(PHRASES), ...UNMISTAKABLE].join('|')})\\b(?!")|^(${Object.keys(OPERATIONS).join('|')})(?= is for )`,
  'g',
);

/** A refusal of the daemon for people who have its commands before them. What they typed stands in quotation marks and stays. */
export function inCommands(message: string): string {
  return message.replace(
    NAMES,
    (name) => PHRASES[name] ?? `\`croft state ${OPERATIONS[name as keyof typeof OPERATIONS]}\``,
  );
}
