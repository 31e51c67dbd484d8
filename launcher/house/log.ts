import { closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createLog, type Log, makeFolder, StartError } from '@croft/runtime';
import type { Configuration } from '../configuration.ts';

/** When a log is this long at a start, it becomes `….1` and a new one begins. */
const LONG = 20 * 2 ** 20;

/** The log of a run, and the file it is in unless it goes to standard error. */
export interface RunLog {
  readonly log: Log;
  readonly file: string | undefined;
}

/**
 * A person at a terminal who asked for nothing reads addresses, not JSON: then the log is a file in the data
 * folder, or, where there is none to be made, no more than warnings. Anybody else gets it on standard error.
 * @param options whether somebody has the data folder for himself: he makes it, and sets a long log aside
 */
export function openLog(configuration: Configuration, { ownsFolder = true } = {}): RunLog {
  const { settings, dataFolder, logLevelGiven } = configuration;
  const quiet = process.stderr.isTTY && !logLevelGiven;
  const hasFolder = ownsFolder || existsSync(dataFolder);
  const file = settings.LOG_FILE ?? (quiet && hasFolder ? join(dataFolder, 'croft.log') : undefined);
  const level = quiet && file === undefined ? 'warn' : settings.LOG_LEVEL;
  try {
    if (file !== undefined) prepareFile(file, ownsFolder);
    return { log: createLog({ level, file }), file };
  } catch (error) {
    throw new StartError(`The log cannot be written: ${(error as Error).message}. Choose another LOG_FILE.`);
  }
}

/** Says what is worth a warning before anything happens; at a terminal, too, where the log is elsewhere. */
export function tellWarnings({ log, file }: RunLog, warnings: readonly string[]): void {
  for (const warning of warnings) {
    log.warn({}, warning);
    if (file !== undefined) process.stderr.write(`Warning: ${warning}.\n`);
  }
}

/** Sets a long log aside and makes a new one that only its owner reads: addresses and names of people are in it. */
function prepareFile(file: string, rotates: boolean): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size !== undefined && (size <= LONG || !rotates)) return;
  if (size !== undefined) renameSync(file, `${file}.1`);
  makeFolder(dirname(file));
  closeSync(openSync(file, 'a', 0o600));
}
