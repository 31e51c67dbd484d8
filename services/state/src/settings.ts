import {
  boolean,
  choice,
  defineSettings,
  integer,
  type Kind,
  list,
  secret,
  text,
  type Values,
} from '@croft/settings';

/** A host or address with a port; IPv6 in brackets. */
const hostAndPort: Kind<{ readonly host: string; readonly port: number }> = {
  label: '`host:port`',
  parse(value) {
    const [, inBrackets, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(value) ?? [];
    const host = inBrackets ?? plain;
    if (host === undefined || Number(port) > 65_535)
      throw new Error('expected host:port, such as 0.0.0.0:7070 or [::1]:7070');
    return { host, port: Number(port) };
  },
};

/** Every setting of the state service. */
export const stateSettings = defineSettings('State service', 'STATESVC_', {
  SOCKET: {
    kind: text,
    about: 'Path of the unix socket the daemon listens on, at most 107 bytes (`<data>/state/statesvc.sock`)',
  },
  SOCKET_MODE: {
    kind: choice('0600', '0666'),
    default: '0600',
    about:
      'Who can reach the socket: its owner and root (`0600`), or every user of this machine (`0666`), each with his own rights. A socket that systemd passes is always taken for the latter',
  },
  ADMIN_GROUP: {
    kind: text,
    about:
      'Group of this machine whose members administrate, besides root and the user that the daemon runs as',
  },
  LISTEN: {
    kind: hostAndPort,
    about:
      'Where it listens on TCP besides, for other machines; needs `TLS_CERT` and `TLS_KEY`, because what is not encrypted is not served',
  },
  TLS_CERT: {
    kind: text,
    about: "File of the daemon's certificate (PEM), with the chain that belongs to it",
  },
  TLS_KEY: { kind: text, about: 'File of its private key (PEM)' },
  TLS_CLIENT_CA: {
    kind: text,
    about:
      'File of the authority (PEM) whose client certificates may read; without it clients are not asked for one',
  },
  TLS_ADMINS: {
    kind: list,
    default: '',
    about:
      'Names whose client certificates administrate: the common name, or an alternative name (DNS or mail address)',
  },
  JWT_SECRET: {
    kind: secret,
    alsoNamed: ['AUTHSVC_JWT_SECRET'],
    about:
      'Secret that signs the access tokens of the auth service, which count over TLS when their role is one of `AUTHSVC_JWT_ADMIN_ROLES`',
  },
  JWT_KEYS: {
    kind: secret,
    alsoNamed: ['AUTHSVC_JWT_KEYS'],
    about:
      'Keys that access tokens are verified with besides the secret, as JSON Web Keys; public parts suffice',
  },
  JWT_VALID_METHODS: {
    kind: list,
    default: '',
    alsoNamed: ['AUTHSVC_JWT_VALID_METHODS'],
    about: 'Algorithms of access tokens that are accepted; without any all that the keys have',
  },
  METRICS_LISTEN: {
    kind: hostAndPort,
    about:
      'Where metrics are served to Prometheus, over plain HTTP at the path `/`: for the network of the operator',
  },
  STORAGE: {
    kind: choice('auto', 'vault', 'zfs', 'btrfs'),
    about:
      'Where states are kept: `vault` is a content-addressed store in the data folder and works on every file system, `zfs` and `btrfs` keep snapshots of datasets and of subvolumes. `auto` is what the root of this machine is on, where the daemon is root and the programs are there, else the vault',
    default: 'auto',
  },
  VAULT_SYSTEM: {
    kind: text,
    about: "Vault only: the folder that is this machine's system. `none`: the machine is not managed",
    default: '/etc',
  },
  BTRFS_ROOT: {
    kind: text,
    about:
      'btrfs only: where the top level of the file system is mounted (found by the mount of `/`; where it is mounted nowhere, the daemon mounts it in its own folder)',
  },
  BTRFS_SYSTEM: {
    kind: text,
    about:
      "btrfs only: the subvolume that is this machine's system, from the top level on (the one that `/` is; `@` where `/` is on another file system)",
  },
  BTRFS_HOMES: {
    kind: text,
    about:
      'btrfs only: the subvolume or folder that holds homes, from the top level on. Each home is a subvolume in it, and is seen where this is mounted, such as `/home`',
    default: '@home',
  },
  ZFS_POOLS: {
    kind: list,
    about:
      'zfs only: the pools that are looked at, such as `rpool,bpool` (all that are imported, those of backups included)',
    default: '',
  },
  ZFS_ADOPT: {
    kind: boolean,
    about:
      'zfs only: at start, adopts the machine that runs unless it is managed, as `croft state adopt` does at any time',
    default: 'false',
  },
  ZFS_HOMES: {
    kind: text,
    about:
      'zfs only: the dataset in which homes are made (`USERDATA` in the pool of the root); made when it is not there',
  },
  ZFS_TIMEOUT: {
    kind: integer(1, 3600),
    about: 'zfs only: seconds after which a command of it that does not end is given up',
    default: '120',
  },
  SEARCH_PATH: {
    kind: text,
    alsoNamed: ['PATH'],
    about:
      'Folders in which programs of the system are looked for: those of the storage, the boot loader, and perl or python3',
    default: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  },
  MIN_FREE: {
    kind: integer(0, 90),
    about:
      'Percent of a pool that must stay free for a save to start (20 on zfs and btrfs, 5 on the vault, whose pool is an ordinary disk shared with everything else)',
  },
  POLICY: {
    kind: text,
    about:
      'YAML file that says which states garbage collection keeps and how large the boot menu may be; `docs/operations.md` describes it. Without the file the defaults hold',
    default: '/etc/croft/state.yaml',
  },
  CMDLINE_FILE: {
    kind: text,
    about:
      'The kernel command line; `statesvc.state=<id>` in it names the state to go back to, `statesvc.revert=userdata` says that homes go back, too',
    default: '/proc/cmdline',
  },
  BOOT_LOADER: {
    kind: choice('auto', 'grub', 'entries', 'none'),
    about:
      'Whose menu shows the states: `grub` (a file that grub.cfg sources), `entries` (Boot Loader Specification), `auto` those that are there',
    default: 'auto',
  },
  BOOT_FOLDER: { kind: text, about: 'Where kernels lie, and `grub/grub.cfg`', default: '/boot' },
  ENTRIES_FOLDER: {
    kind: text,
    about:
      'Where the partition with `loader/entries` is mounted (the first of `/efi`, `/boot/efi` and `/boot` that has a folder `loader`)',
  },
  BOOT_ID_FILE: {
    kind: text,
    about: 'Where the kernel says which boot this is',
    default: '/proc/sys/kernel/random/boot_id',
  },
});

/** The values of {@link stateSettings}. */
export type StateSettings = Values<typeof stateSettings.settings>;
