import { rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { withFiles } from '../file-trouble.ts';
import { Misuse } from '../parse-command.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Writes a file that is not there yet and that only its owner can read; when that fails or is ended it is not there afterwards,
 * because half of it is none.
 * @throws Misuse when there is something, or it cannot be made, before anything else is done; FileTrouble
 */
export async function newFile<T>(name: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(name, 'wx', 0o600).catch((error: Error) => {
    throw new Misuse(`${name} cannot be written: ${error.message}; --output names another file`);
  });
  const end = (signal: NodeJS.Signals) => {
    rmSync(name, { force: true });
    process.kill(process.pid, signal); // nobody listens to it any more
  };
  for (const signal of SIGNALS) process.once(signal, end);
  try {
    try {
      return await withFiles(`${name} could not be written`, () => write(file));
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(name, { force: true });
    throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
  }
}
