import { type Caller, isBornAdministrator } from './access.ts';

/** How many calls of one caller may be in flight. */
export interface CallLimits {
  /** Of all kinds. */
  readonly calls: number;
  /** Of those that go on until somebody ends them, such as `Watch`. */
  readonly endless: number;
}

const ORDINARY: CallLimits = { calls: 64, endless: 8 };
/** For programs that many people use, and so that an administrator can always look. */
const ADMINISTRATOR: CallLimits = { calls: 1024, endless: 256 };

/** The limits of a caller; all strangers together are one. Members of a group are not looked up, because that is work, too. */
export function callLimitsOf(caller: Caller, daemonUid: number | undefined): CallLimits {
  return isBornAdministrator(caller, daemonUid) ? ADMINISTRATOR : ORDINARY;
}
