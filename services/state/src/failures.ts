import { Failure } from '@croft/failure';

/** How many candidates an ambiguous name lists: the status message must stay far below the 4 KiB of a trailer. */
const MAX_CANDIDATES = 10;

/** A typed state name breaks the rules; `why` is a whole sentence. */
export const badStateName = (why: string): Failure => new Failure('invalid', 'bad_state_name', why);

/** The name is taken on this machine. */
export const stateExists = (name: string, machine: string): Failure =>
  new Failure(
    'conflict',
    'state_exists',
    `a state named ${shown(name)} exists already on ${machine}: choose another name, or remove it first`,
  );

/** No state goes by what the caller typed. */
export const stateNotFound = (wanted: string): Failure =>
  new Failure(
    'not-found',
    'state_not_found',
    `there is no state ${shown(wanted)}: MachineShow lists the states with their names`,
  );

/** More than one state fits; the candidates are full names with ids. */
export const ambiguousState = (wanted: string, candidates: readonly string[]): Failure =>
  new Failure('invalid', 'ambiguous_state', ambiguity('state', wanted, candidates));

/** No machine goes by what the caller typed. */
export const machineNotFound = (wanted: string): Failure =>
  new Failure(
    'not-found',
    'machine_not_found',
    `there is no machine ${shown(wanted)}: MachineList lists the machines`,
  );

/** More than one machine fits. */
export const ambiguousMachine = (wanted: string, candidates: readonly string[]): Failure =>
  new Failure('invalid', 'ambiguous_machine', ambiguity('machine', wanted, candidates));

/** This host is not a machine whose states we keep. */
export const machineNotManaged = (): Failure =>
  new Failure(
    'precondition',
    'machine_not_managed',
    'this machine is not managed, so it has no states: set STATESVC_VAULT_SYSTEM to the folder that is its system and restart the daemon',
  );

/** What the machine runs on is never removed, `force` or not. */
export const currentStateRefused = (name: string): Failure =>
  new Failure(
    'precondition',
    'current_state',
    `${shown(name)} is the current state of this machine and cannot be removed, not even with force: boot another state first`,
  );

/** Another call is removing this state, or a crashed one was and the rest is still being cleared away. */
export const stateBeingRemoved = (name: string): Failure =>
  new Failure('locked', 'state_being_removed', `state ${shown(name)} is being removed already`);

/** Saving would leave a pool with less free space than is allowed. */
export const notEnoughSpace = (pool: string, free: string, needed: string): Failure =>
  new Failure(
    'exhausted',
    'not_enough_space',
    `not enough free space on ${pool}: ${free} free, ${needed} needed. Remove states, free space there, or lower STATESVC_MIN_FREE`,
  );

/** A tree to be saved is not there or is no folder. */
export const treeMissing = (path: string, reason: string): Failure =>
  new Failure(
    'precondition',
    'tree_missing',
    `the tree ${path} cannot be saved: ${reason}. Nothing was saved`,
  );

/** What lies in the storage is not what the index knows: somebody else wrote there. */
export const storageChanged = (what: string): Failure =>
  new Failure(
    'locked',
    'storage_changed',
    `${what} is not what this daemon recorded, so it was left alone: restart the daemon to read the storage again`,
  );

/** Stored content is missing or does not have the hash it is stored under. */
export const contentDamaged = (what: string): Failure =>
  new Failure(
    'precondition',
    'content_damaged',
    `${what} in the storage is missing or damaged: use another state, and check the disk`,
  );

/** The folder to restore into cannot be used. */
export const restoreTargetRefused = (folder: string, reason: string): Failure =>
  new Failure('precondition', 'restore_target', `cannot restore into ${folder}: ${reason}`);

/** Too many writers wait already. */
export const tooManyWaiting = (): Failure =>
  new Failure(
    'exhausted',
    'too_many_waiting',
    'too many calls wait for this machine already: try again later',
  );

/** The caller went away or its deadline passed. */
export const callEnded = (): Failure =>
  new Failure(
    'timed-out',
    'call_ended',
    'the call was cancelled or its deadline passed; what it had begun was undone',
  );

/** The daemon is shutting down. */
export const daemonStopping = (): Failure =>
  new Failure(
    'unavailable',
    'daemon_stopping',
    'the daemon is stopping: start it again, then repeat the call',
  );

/** A logging level outside 0 to 2. */
export const badLoggingLevel = (level: number): Failure =>
  new Failure(
    'invalid',
    'bad_logging_level',
    `logginglevel is 0 (warnings), 1 (information) or 2 (debugging), not ${level}`,
  );

/** The log the daemon was given has no level to change. */
export const fixedLoggingLevel = (): Failure =>
  new Failure(
    'precondition',
    'fixed_logging_level',
    'the log of this daemon has no level that can be changed',
  );

/** An operation of the contract that this version does not have yet. */
export const notAvailableYet = (operation: string, available: readonly string[]): Failure =>
  new Failure(
    'not-allowed',
    'not_available_yet',
    `${operation} is not available in this version; available are ${available.join(', ')}`,
  );

function ambiguity(kind: string, wanted: string, candidates: readonly string[]): string {
  const rest = candidates.length - MAX_CANDIDATES;
  const list = candidates.slice(0, MAX_CANDIDATES).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
  return `${shown(wanted)} fits more than one ${kind}: ${list}. Use one of these in full`;
}

/** Quoted, short, and without anything that could move a cursor. */
function shown(given: string): string {
  const short = given.length > 120 ? `${given.slice(0, 120)}…` : given;
  return JSON.stringify(short.toWellFormed()).replace(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
