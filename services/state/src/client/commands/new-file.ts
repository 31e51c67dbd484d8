import { type FileHandle, open, rm } from 'node:fs/promises';
import { FileTrouble, withFiles } from '../file-trouble.ts';
import { interruptible, orAborted } from '../interruption.ts';

/**
 * Writes a file that is not there yet and that only its owner can read; when that fails or is ended it is not there afterwards,
 * because half of it is none.
 * @throws FileTrouble, when there is something or it cannot be made before anything else is done; Interrupted
 */
export async function newFile<T>(name: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  return await interruptible(
    (signal) => writeNew(name, signal, write),
    () => `${name} was not written`,
  );
}

async function writeNew<T>(
  name: string,
  signal: AbortSignal,
  write: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(name, 'wx', 0o600).catch((error: Error) => {
    throw new FileTrouble(`${name} cannot be written: ${error.message}; --output names another file`);
  });
  try {
    return await withFiles(`${name} could not be written`, async () => {
      try {
        return await orAborted(signal, () => write(file));
      } finally {
        // A disk may say only now that it is full.
        await file.close();
      }
    });
  } catch (error) {
    await withFiles(`half of ${name} could not be removed`, () => rm(name, { force: true }));
    throw error;
  }
}
