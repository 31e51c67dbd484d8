import { Failure } from '@croft/failure';
import { shown } from './failures.ts';

/** What somebody wants to say of a state cannot be written down; `why` is a whole sentence. */
export const badDescription = (why: string): Failure => new Failure('invalid', 'bad_description', why);

/** The states that a user pinned are kept from garbage collection, and with them those of the system. */
export const tooManyPins = (user: string, most: number): Failure =>
  new Failure(
    'exhausted',
    'too_many_pins',
    `${most} states of ${shown(user)} are pinned, which is the most: unpin another one first`,
  );

/** The next boot cannot go back to the state of another machine. */
export const foreignState = (name: string, machine: string): Failure =>
  new Failure(
    'precondition',
    'foreign_state',
    `${shown(name)} is a state of ${machine} and not of the machine that runs, which cannot go back to it`,
  );

/** A root that runs is not exchanged, and the boot loader cannot start another one for once; `why` has no point at its end. */
export const notStartedOnce = (state: string, why: string, words: readonly string[]): Failure =>
  new Failure(
    'precondition',
    'not_started_once',
    `the next boot cannot be told to start ${shown(state)}: ${why}. What was asked for before stays. Choose the state in the boot menu when the machine starts, or give the kernel ${words.join(' ')} there`,
  );

/** The boot loader has kept what it was asked for. */
export const stillStartedOnce = (why: string): Failure =>
  new Failure(
    'precondition',
    'still_started_once',
    `the boot loader may still start a state at the next boot: ${why}. The request stays: repeat the call, or choose another entry in the boot menu`,
  );

/** It was there when the call began. */
export const stateGone = (name: string): Failure =>
  new Failure('locked', 'state_gone', `the state ${shown(name)} was removed meanwhile`);

/** The dataset that a state is compared with is not on this machine any more. */
export const nothingToCompare = (name: string): Failure =>
  new Failure(
    'precondition',
    'nothing_to_compare',
    `of what ${shown(name)} holds nothing is on this machine: compare it with another state`,
  );

/** It was imported from a storage that divides a system otherwise than the one here. */
export const onlyToLookInto = (name: string): Failure =>
  new Failure(
    'precondition',
    'only_to_look_into',
    `${shown(name)} was imported and no machine can go back to it: compare it, export it, or copy out of it what is needed`,
  );

/** What is to be imported is not what an export gave; `why` is a sentence without a point at its end. */
export const badImport = (why: string): Failure =>
  new Failure('invalid', 'bad_import', `this cannot be imported, and nothing was: ${why}`);

/** One at a time. */
export const alreadyImporting = (): Failure =>
  new Failure('locked', 'already_importing', 'another state is being imported: wait for its end');

/** The sender of an import says nothing any more. */
export const importStalled = (seconds: number): Failure =>
  new Failure(
    'timed-out',
    'import_stalled',
    `nothing came for ${seconds} seconds, so the import was ended and undone: repeat it`,
  );

/** A save was promised the space that an import has taken since. */
export const importGaveWay = (): Failure =>
  new Failure(
    'exhausted',
    'import_gave_way',
    'a save needs the space that the import takes, so the import was ended and undone: make room and repeat it',
  );

/** A watcher read too slowly for what happened. */
export const watcherTooSlow = (kept: number): Failure =>
  new Failure(
    'exhausted',
    'watcher_too_slow',
    `more than ${kept} events waited to be read, so some are missing: watch again, and read DumpStates for what is there`,
  );

/** Only on ZFS are there machines that another manager kept; `instead` says what makes one managed here. */
export const nothingToAdopt = (driver: string, instead: string): Failure =>
  new Failure(
    'precondition',
    'nothing_to_adopt',
    `machines are adopted on ZFS, and states are kept on ${driver} here: ${instead}`,
  );

/** The root of what runs is in no pool. */
export const runsElsewhere = (): Failure =>
  new Failure(
    'precondition',
    'runs_elsewhere',
    'the root of the machine that runs is not on ZFS: name the machine to adopt, MachineList has them',
  );
