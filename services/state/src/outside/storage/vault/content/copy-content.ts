import { createHash } from 'node:crypto';
import { constants, ftruncate } from 'node:fs';
import { chmod, copyFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errorCode, fstat, readFully } from '../files.ts';

/** Files are read in pieces of this size: hashing one keeps the event loop for about a millisecond. */
export const PIECE_BYTES = 256 * 1024;

const ZEROS = Buffer.alloc(PIECE_BYTES);

/** What a file holds. */
export interface Content {
  readonly hash: string;
  readonly size: number;
}

/** How a file is read. */
export interface CopyOptions {
  /** Takes every piece. */
  readonly write?: ((bytes: Buffer, position: number) => Promise<void>) | undefined;
  /** Pieces that are only zeros are not written. */
  readonly sparse?: boolean;
  /** Nothing after so many bytes is read: a file can grow faster than anybody reads. */
  readonly limit?: number;
  /** Ends it with the next piece. */
  readonly signal?: AbortSignal | undefined;
}

/** Reads a file to its end, hands on every piece, and tells hash and size. */
export async function copyContent(
  source: number,
  buffer: Buffer,
  { write, sparse = false, limit = Number.POSITIVE_INFINITY, signal }: CopyOptions = {},
): Promise<Content> {
  const hash = createHash('sha256');
  let size = 0;
  for (;;) {
    signal?.throwIfAborted();
    const piece = buffer.subarray(0, Math.min(buffer.length, limit - size));
    const bytes = piece.subarray(0, await readFully(source, piece, size));
    hash.update(bytes);
    if (!(sparse && bytes.equals(ZEROS.subarray(0, bytes.length)))) await write?.(bytes, size);
    size += bytes.length;
    if (bytes.length < buffer.length) return { hash: hash.digest('hex'), size };
  }
}

/** Gives a file its length where its end is a hole. */
export async function setLength(fd: number, size: number): Promise<void> {
  if ((await fstat(fd)).size !== BigInt(size)) await promisify(ftruncate)(fd, size);
}

/**
 * Copies an open file by sharing its disk blocks (reflink), which some file systems can within themselves. The copy is for its
 * owner alone.
 * @param target a name in a folder that nobody else may write to
 * @returns false when this one cannot, and nothing is there then
 */
export async function cloneFile(fd: number, target: string | Buffer): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  try {
    // Through the descriptor, so that it is the file we opened and not what its name means by now.
    await copyFile(`/proc/self/fd/${fd}`, target, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
    // It has the mode of the file: that may keep us from it, or let whoever runs it be its owner.
    await chmod(target, 0o600);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') await rm(target, { force: true });
    return false;
  }
}
