import { type Caller, isBornAdministrator } from './access.ts';
import { type Right, rights } from './rights.ts';
import { extraRights } from './rights-extras.ts';

/** How many calls of one caller may be in flight. */
export interface CallLimits {
  /** Of all kinds. */
  readonly calls: number;
  /** Of those that go on until somebody ends them, such as `Watch`. */
  readonly endless: number;
  /** Of those whose answer is all that is known: it waits in memory for whoever does not read. */
  readonly documents: number;
  /** Of those by which a user changes what is his: each holds the machine, and others wait. */
  readonly writes: number;
}

/** A kind of calls that has a limit of its own. */
export type CallKind = Exclude<keyof CallLimits, 'calls'>;

const ORDINARY: CallLimits = { calls: 64, endless: 8, documents: 8, writes: 4 };
/** For programs that many people use, and so that an administrator can always look. */
const ADMINISTRATOR: CallLimits = { calls: 1024, endless: 256, documents: 1024, writes: 1024 };

const DOCUMENTS: readonly string[] = ['DumpStates', 'MachineList', 'MachineShow'];
const RIGHTS: Readonly<Record<string, Right<never>>> = { ...rights, ...extraRights };

/** The limits of a caller; all strangers together are one. Members of a group are not looked up, because that is work, too. */
export function callLimitsOf(caller: Caller, daemonUid: number | undefined): CallLimits {
  return isBornAdministrator(caller, daemonUid) ? ADMINISTRATOR : ORDINARY;
}

/** The kind of a call; undefined when only all of them are counted. @param path `/<service>/<operation>` */
export function callKindOf(path: string): CallKind | undefined {
  const operation = path.slice(path.lastIndexOf('/') + 1);
  if (operation === 'Watch') return 'endless';
  if (DOCUMENTS.includes(operation)) return 'documents';
  return Object.hasOwn(RIGHTS, operation) && typeof RIGHTS[operation] === 'object' ? 'writes' : undefined;
}
