import { Failure } from '@croft/failure';

/** How many candidates an ambiguous name lists: the status message must stay far below the 4 KiB of a trailer. */
const MAX_CANDIDATES = 10;

/** A typed state name breaks the rules; `why` is a whole sentence. */
export const badStateName = (why: string): Failure => new Failure('invalid', 'bad_state_name', why);

/** The name is taken on this machine. @param user whose state it is; undefined when it is one of the system */
export const stateExists = (name: string, machine: string, user?: string): Failure => {
  const whose = user === undefined ? 'a state' : `a state of the home of ${user}`;
  return new Failure(
    'conflict',
    'state_exists',
    `${whose} named ${shown(name)} exists already on ${machine}: choose another name, or remove it first`,
  );
};

/** No state goes by what the caller typed; `hint` goes on with what may be meant. */
export const stateNotFound = (
  wanted: string,
  hint = ': MachineShow lists the states with their names',
): Failure => new Failure('not-found', 'state_not_found', `there is no state ${shown(wanted)}${hint}`);

/** More than one state fits; the candidates are full names with ids. */
export const ambiguousState = (wanted: string, candidates: readonly string[]): Failure =>
  new Failure('invalid', 'ambiguous_state', ambiguity('state', wanted, candidates));

/** No machine goes by what the caller typed. @param isState a state of some machine does */
export const machineNotFound = (wanted: string, isState: boolean): Failure => {
  const hint = isState
    ? ', but a state: MachineShow with full tells what it holds'
    : ': MachineList lists the machines';
  return new Failure('not-found', 'machine_not_found', `there is no machine ${shown(wanted)}${hint}`);
};

/** More than one machine fits. */
export const ambiguousMachine = (wanted: string, candidates: readonly string[]): Failure =>
  new Failure('invalid', 'ambiguous_machine', ambiguity('machine', wanted, candidates));

/** No home lies at the path on the machine. */
export const homeNotFound = (path: string, machine: string): Failure =>
  new Failure(
    'not-found',
    'home_not_found',
    `no home on ${machine} lies at ${shown(path)}: MachineShow lists the users with their homes, CreateUserData makes a home`,
  );

/** No such user has a home on the machine. */
export const userNotFound = (wanted: string, machine: string): Failure =>
  new Failure(
    'not-found',
    'user_not_found',
    `${shown(wanted)} has no home on ${machine}: MachineShow lists the users, CreateUserData makes a home`,
  );

/** What was given cannot be a login name. */
export const badUserName = (user: string, why: string): Failure =>
  new Failure('invalid', 'bad_user_name', `${shown(user)} is no user name: ${why}`);

/** What was given cannot be the path of a home. */
export const badPath = (path: string, why: string): Failure =>
  new Failure('invalid', 'bad_path', `${shown(path)} cannot be the path of a home: ${why}`);

/** A home would lie where something else does. */
export const homeTaken = (path: string, by: string): Failure =>
  new Failure('conflict', 'home_taken', `${shown(path)} is taken by ${by}: choose another path`);

/** What lies at the path cannot become, or hold, a home. */
export const homeRefused = (path: string, reason: string): Failure =>
  new Failure('precondition', 'home_refused', `${shown(path)} cannot be used for a home: ${reason}`);

/** What lies at the path is somebody else's, whoever's home it is called. @param instead what to do if it is no mistake */
export const homeOfOthers = (path: string, user: string, owner: string, instead: string): Failure =>
  homeRefused(
    path,
    `it is not empty and belongs to ${owner}, not to ${user}. If it is the home, give it to ${user} with "chown"; else ${instead}`,
  );

/** Something depends on what is to be removed; the lines before say what. */
export const needsForce = (wanted: string, count: number): Failure =>
  new Failure(
    'precondition',
    'needs_force',
    `${shown(wanted)} was not removed, because of ${count === 1 ? 'what the line' : `what the ${count} lines`} before this says: repeat it with force if that is meant`,
  );

/** This host is not a machine whose states we keep. */
export const machineNotManaged = (): Failure =>
  new Failure(
    'precondition',
    'machine_not_managed',
    'this machine is not managed, so it has no states: on ZFS Adopt makes it managed; else set STATESVC_VAULT_SYSTEM to the folder that is its system, and restart the daemon',
  );

/** What the machine runs on is never removed, `force` or not. */
export const currentStateRefused = (name: string): Failure =>
  new Failure(
    'precondition',
    'current_state',
    `${shown(name)} is the current state of this machine and cannot be removed, not even with force: boot another state first`,
  );

/** What a machine is to go back to is never removed either, until somebody takes that back. */
export const nextStateRefused = (name: string): Failure =>
  new Failure(
    'precondition',
    'next_state',
    `the next boot goes back to ${shown(name)}, so it cannot be removed, not even with force: CancelRevert has it go back to no state`,
  );

/** What was made from a state is what somebody works with. */
export const dependantInUse = (name: string, dependant: string): Failure =>
  new Failure(
    'precondition',
    'dependant_in_use',
    `${shown(name)} cannot be removed, not even with force: ${dependant} was made from it and is in use`,
  );

/** Another call is removing this state, or one stopped and what it left is still there. */
export const stateBeingRemoved = (name: string): Failure =>
  new Failure(
    'locked',
    'state_being_removed',
    `state ${shown(name)} is being removed already. If that has stopped, ask again with force, or restart the daemon`,
  );

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

/** What a tree has now cannot be asked for. */
export const treeSilent = (path: string, reason: string): Failure =>
  new Failure('unavailable', 'tree_silent', `the tree ${path} cannot be looked at: ${reason}`);

/** A tree has more files than the memory holds the list of. @param size of the list, as text */
export const listTooLong = (size: string): Failure =>
  new Failure(
    'exhausted',
    'list_too_long',
    `it has too many files: the list of them takes more than ${size}, half of the memory that this daemon may fill. Remove files, or give the daemon more memory`,
  );

/** What lies in the storage is not what the index knows: somebody else wrote there. */
export const storageChanged = (what: string): Failure =>
  new Failure(
    'locked',
    'storage_changed',
    `${what} is not what this daemon recorded, so it was left alone: restart the daemon to read the storage again`,
  );

/** The storage, or a program that it needs, did not do what was asked. */
export const storageRefused = (what: string, why: string): Failure =>
  new Failure('precondition', 'storage_refused', `${what}: ${why}`);

/** A removal that began and could not go on. Something is gone, so it is finished later and never taken back. */
export const removalUnfinished = (cause: Failure): Failure =>
  new Failure(
    cause.kind,
    'removal_unfinished',
    `${cause.message}. The removal has begun: ask again with force, or restart the daemon, which finishes it`,
    { cause },
  );

/** The same of a removal that takes more than one thing: the lines before say which are gone and which are not. */
export const removalStopped = (cause: Failure, gone: number, left: number): Failure => {
  const first = cause.code === 'removal_unfinished' && cause.cause instanceof Failure ? cause.cause : cause;
  return new Failure(
    cause.kind,
    'removal_unfinished',
    `${first.message}. The removal has begun: of ${gone + left} things that it takes ${gone} went, and the lines before this say which did not. When nothing is in the way any more, ask again with force, or restart the daemon, which finishes it`,
    { cause },
  );
};

/** The storage does not answer, or its programs are not there. */
export const storageUnavailable = (why: string): Failure =>
  new Failure('unavailable', 'storage_unavailable', `the storage cannot be used now: ${why}`);

/** A disk that can be read and not written. @param why what the system said */
export const writesRefused = (what: string, why: string): Failure =>
  new Failure(
    'unavailable',
    'writes_refused',
    `the storage cannot be used now: ${what} takes no writes (${why})`,
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

/** The policy file cannot be used; what was in force stays so. */
export const badPolicy = (file: string, problems: readonly string[]): Failure =>
  new Failure('invalid', 'bad_policy', `policy file ${file}: ${problems.join('; ')}`);

/** Garbage collection could not remove everything it was to; the lines before say what and why. */
export const collectionIncomplete = (count: number): Failure =>
  new Failure(
    'locked',
    'collection_incomplete',
    `${count} of the states could not be removed: the lines before this say why`,
  );

/** A kind of trace that there is not. */
export const badTrace = (why: string): Failure => new Failure('invalid', 'bad_trace', why);

/** One trace at a time. */
export const alreadyTracing = (): Failure =>
  new Failure('locked', 'already_tracing', 'another trace is being taken: wait for its end');

/** The state that this boot is to go back to is not one of the machine's. */
export const bootedStateMissing = (id: string): Failure =>
  new Failure(
    'precondition',
    'booted_state_missing',
    `this boot is to go back to the state ${shown(id)}, which this machine does not have; nothing was changed. MachineShow with full lists the ids`,
  );

/** This storage goes back to a state by running its root, and another one runs. */
export const notBootedFrom = (state: string): Failure =>
  new Failure(
    'precondition',
    'not_booted_from',
    `this boot does not run the root of ${shown(state)}, and a root that runs is not exchanged: choose the state in the boot menu; nothing was changed`,
  );

/** Going back to a state was interrupted; what is there is neither of two states. */
export const revertUnfinished = (state: string, saved: string): Failure =>
  new Failure(
    'precondition',
    'revert_unfinished',
    `going back to the state ${shown(state)} was interrupted: call PrepareBoot in a boot that names it, or one that names ${shown(saved)}, which is what was there before`,
  );

/** Somebody works in a tree that is being made what it was. What is not done yet is done when it is asked for again. */
export const treeChanged = (path: string, code: string): Failure =>
  new Failure(
    'locked',
    'tree_changed',
    `somebody changes ${path} while the machine goes back to a state (${code}): end what runs there, then call PrepareBoot again, which goes on with it`,
  );

/** The boot menu cannot be written or is not accepted; the old one stays. */
export const menuRefused = (file: string, reason: string): Failure =>
  new Failure('precondition', 'menu_refused', `the boot menu ${file} was not replaced: ${reason}`);

/** There is nothing that a menu could be written for. */
export const noBootLoader = (missing: string, folder: string): Failure =>
  new Failure(
    'precondition',
    'no_boot_loader',
    `${missing}: STATESVC_BOOT_LOADER names the boot loader, and STATESVC_BOOT_FOLDER (${folder}) where kernels lie`,
  );

/** Too many writers wait already. */
export const tooManyWaiting = (): Failure =>
  new Failure(
    'exhausted',
    'too_many_waiting',
    'too many calls wait for this machine already: try again later',
  );

/** A user has saved his home so often that the daemon keeps no more for him. */
export const tooManyOwnSaves = (user: string, most: number): Failure =>
  new Failure(
    'exhausted',
    'too_many_own_saves',
    `${most} states of ${shown(user)} were saved by themselves, which is the most a user may make: remove some of them first`,
  );

/** The certificates or keys for TLS cannot be used; those in use stay. */
export const badCertificates = (why: string): Failure => new Failure('invalid', 'bad_certificates', why);

/** A caller has too many calls in flight; `what` are the calls that are counted. */
export const tooManyCalls = (caller: string, most: number, what: string): Failure =>
  new Failure(
    'exhausted',
    'too_many_calls',
    `${caller} has ${most} ${what} in flight, which is the most there may be: wait until one of them has ended`,
  );

/** Whether the caller may do this, or whose a home is, depends on users and groups, and the system does not say. */
export const directorySilent = (why: string): Failure =>
  new Failure(
    'unavailable',
    'directory_silent',
    `the directory of users and groups did not answer (${why}), so it is not known who is who: try again`,
  );

/** Nobody knows who calls; `why` ends the sentence. */
export const notIdentified = (why: string): Failure =>
  new Failure('unauthenticated', 'not_identified', `who calls is not known: ${why}`);

/** The caller is known, and may not do this. */
export const notAllowed = (asked: { operation: string; right: string; administrators: string }): Failure => {
  const owner = asked.right === 'own' ? 'the user whose home it is, and for ' : '';
  return new Failure(
    'forbidden',
    'not_allowed',
    `${asked.operation} is for ${owner}administrators: ${asked.administrators}`,
  );
};

/** Removing a user's state would take what is not his. */
export const othersDependOnIt = (name: string, what: string): Failure =>
  new Failure(
    'forbidden',
    'others_depend_on_it',
    `${name} was not removed: ${what} was made from it, and only an administrator may remove that`,
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

function ambiguity(kind: string, wanted: string, candidates: readonly string[]): string {
  const rest = candidates.length - MAX_CANDIDATES;
  const list = candidates.slice(0, MAX_CANDIDATES).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
  return `${shown(wanted)} fits more than one ${kind}: ${list}. Use one of these in full`;
}

/** Quoted, short, and without anything that could move a cursor. */
export function shown(given: string): string {
  const short = given.length > 120 ? `${given.slice(0, 120)}…` : given;
  return JSON.stringify(short.toWellFormed()).replace(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
