import type { RunCommand } from './command-call.ts';
import { completion } from './completion.ts';
import {
  createUser,
  dissociateUser,
  logLevel,
  moveHome,
  plainly,
  tellChanged,
  trace,
  updateMenu,
} from './daemon-commands.ts';
import { adopt } from './extras/adopt-command.ts';
import { cancelRevert, describe, pin, revert } from './extras/annotate-commands.ts';
import { diff } from './extras/diff-command.ts';
import { exportState, importState } from './extras/transfer-commands.ts';
import { watch } from './extras/watch-command.ts';
import { dump, list, show, status, users, version } from './look-commands.ts';
import type { CommandName } from './parse-command.ts';
import { gc, remove, restore, save } from './state-commands.ts';

/** Every command. */
export const commands: Record<CommandName, RunCommand> = {
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
  completion,
};
