import { closeSync, openSync, renameSync, statSync } from 'node:fs';
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
 * folder. Anybody else gets it on standard error.
 * @param options whether a long one is set aside, which only who has the data folder for himself does
 */
export function openLog(configuration: Configuration, { rotates = true } = {}): RunLog {
  const { settings, dataFolder, logLevelGiven } = configuration;
  const quiet = process.stderr.isTTY && !logLevelGiven;
  const file = settings.LOG_FILE ?? (quiet ? join(dataFolder, 'croft.log') : undefined);
  try {
    if (file !== undefined) prepareFile(file, rotates);
    return { log: createLog({ level: settings.LOG_LEVEL, file }), file };
  } catch (error) {
    throw new StartError(`The log cannot be written: ${(error as Error).message}. Choose another LOG_FILE.`);
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
