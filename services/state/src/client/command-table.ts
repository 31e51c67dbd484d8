import type { RunCommand } from './command-call.ts';
import { adopt } from './commands/adopt-command.ts';
import { cancelRevert, describe, pin, revert } from './commands/annotate-commands.ts';
import {
  createUser,
  dissociateUser,
  logLevel,
  moveHome,
  plainly,
  tellChanged,
  trace,
  updateMenu,
} from './commands/daemon-commands.ts';
import { diff } from './commands/diff-command.ts';
import { dump, list, show, status, users, version } from './commands/look-commands.ts';
import { restore } from './commands/restore-command.ts';
import { gc, remove, save } from './commands/state-commands.ts';
import { exportState, importState } from './commands/transfer-commands.ts';
import { watch } from './commands/watch-command.ts';
import type { CommandName } from './parse-command.ts';

/** Every command that asks a daemon. */
export const commands: Record<Exclude<CommandName, 'completion'>, RunCommand> = {
  list,
  show,
  save,
  remove,
  adopt,
  restore,
  describe,
  pin: pin('Pin'),
  unpin: pin('Unpin'),
  diff,
  revert,
  'revert-cancel': cancelRevert,
  export: exportState,
  import: importState,
  watch,
  gc,
  users,
  'users create': createUser,
  'users move': moveHome,
  'users dissociate': dissociateUser,
  status,
  dump,
  trace,
  'log-level': logLevel,
  refresh: plainly('Refresh'),
  reload: plainly('Reload'),
  'update-menu': updateMenu,
  'prepare-boot': tellChanged('PrepareBoot'),
  'commit-boot': tellChanged('CommitBoot'),
  'last-used': plainly('UpdateLastUsed'),
  stop: plainly('DaemonStop'),
  version,
};
