import { join } from 'node:path';
import type { Answer } from './daemon.ts';
import type { Look } from './step-trial.ts';
import type { SteppingHost, SteppingStorage } from './stepping-hosts.ts';

type Driver = SteppingStorage['driver'];

/** A write that an operation does, and how to tell whether it happened. */
export interface Subject {
  readonly name: string;
  /** As the table of operations calls it. */
  readonly operation: string;
  readonly prepare: (host: SteppingHost, round: number) => Promise<void>;
  readonly ask: (host: SteppingHost, round: number) => Promise<Answer>;
  readonly happened: (look: Look, round: number, before: Look) => boolean;
  /** It is many things, and goes on where it was interrupted: in between some have happened and others not. */
  readonly goesOn?: true;
  /** Where one of its steps failed, the next start finishes it. */
  readonly settles?: true;
  /** It may be asked for when it has happened, and nothing is done twice. */
  readonly twice?: true;
  /** Going on it first saves what is there, as nobody can tell who made it: asked again it may leave one save more, and nothing else. */
  readonly savesFirst?: true;
  /** The next round begins where it has happened. */
  readonly again?: true;
  /** Fails unless what it made is what it was to be. */
  readonly holds?: (host: SteppingHost, round: number) => Promise<void>;
  /** What it says when it did what it could. */
  readonly tells?: RegExp;
  /** The machine's root is on the storage. */
  readonly runs?: true;
  /** A step that it must have, or nothing was tested, on each storage where it is tried. */
  readonly has: Partial<Record<Driver, RegExp>>;
}

/** A tree, and what becomes of it. */
export const GOOD = { 'a/file': 'good', b: 'both', 'c/d/e': 'only good' };
export const BAD = { 'a/file': 'bad', b: 'both', extra: 'only bad', 'f/g': 'only bad, too' };

/** Where a home lies, or is to lie. */
export const home = (host: SteppingHost, name: string) => join(host.homes, name);
/** Makes a home, or takes the one that is there, with these files in it. */
export const filled = async (
  host: SteppingHost,
  user: string,
  files: Record<string, string> = { file: user },
) => {
  await host.must('CreateUserData', { user, homepath: home(host, user) });
  host.fill(home(host, user), files);
};
