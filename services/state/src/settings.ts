import { choice, defineSettings, integer, text, type Values } from '@croft/settings';

/** Every setting of the state service. */
export const stateSettings = defineSettings('State service', 'STATESVC_', {
  SOCKET: {
    kind: text,
    about: 'Path of the unix socket the daemon listens on, at most 107 bytes (`<data>/state/statesvc.sock`)',
  },
  STORAGE: {
    kind: choice('auto', 'vault', 'zfs', 'btrfs'),
    about:
      'Where states are kept: `vault` is a content-addressed store in the data folder and works on every file system. `auto` is the vault; `zfs` and `btrfs` are refused until their drivers are there',
    default: 'auto',
  },
  VAULT_SYSTEM: {
    kind: text,
    about: "Vault only: the folder that is this machine's system. `none`: the machine is not managed",
    default: '/etc',
  },
  MIN_FREE: {
    kind: integer(0, 90),
    about:
      'Percent of a pool that must stay free for a save to start (5 on the vault, whose pool is an ordinary disk shared with everything else)',
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
