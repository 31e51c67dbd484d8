import { errorCode } from '../outside/storage/vault/files.ts';

/** A file of whoever runs the command cannot be read or written; the message is for people. */
export class FileTrouble extends Error {
  override readonly name = 'FileTrouble';
}

/**
 * Does something with files of whoever runs the command.
 * @param what begins the sentence that says what the system refused
 * @throws FileTrouble
 */
export async function withFiles<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    throw new FileTrouble(`${what}: ${(error as Error).message}`, { cause: error });
  }
}
