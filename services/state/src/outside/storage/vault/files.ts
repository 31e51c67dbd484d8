import * as fs from 'node:fs';
import { promisify } from 'node:util';

/** A file's facts with whole nanoseconds. */
export type Stat = fs.BigIntStats;

// The callback functions cost half of `fs.promises`, whose file handles are objects of their own; a save makes 10 calls a file.
const lstatCallback = promisify(fs.lstat) as (path: fs.PathLike, options: { bigint: true }) => Promise<Stat>;
const fstatCallback = promisify(fs.fstat) as (fd: number, options: { bigint: true }) => Promise<Stat>;
const BIG = { bigint: true } as const;

/** A path held as latin1, one character a byte, as the system takes it. */
export function bytesOf(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}

/** Facts of a path itself, never of what a link points to. */
export const lstat = (path: fs.PathLike): Promise<Stat> => lstatCallback(path, BIG);
/** Facts of an open file. */
export const fstat = (fd: number): Promise<Stat> => fstatCallback(fd, BIG);
/** Opens a file and gives its descriptor. */
export const open = promisify(fs.open) as (
  path: fs.PathLike,
  flags: number,
  mode?: number,
) => Promise<number>;
/** Closes a descriptor. */
export const close = promisify(fs.close) as (fd: number) => Promise<void>;
/** Waits until an open file is on the disk. */
export const datasync = promisify(fs.fdatasync) as (fd: number) => Promise<void>;

/** Opening never follows a link in the last place and never waits for the other end of a fifo. */
export const READ = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;
/** The same for folders. */
export const READ_FOLDER = READ | fs.constants.O_DIRECTORY;
/** A file that is not there yet. */
export const CREATE =
  fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_EXCL | fs.constants.O_NOFOLLOW;

/** Which mount an open file was reached through: bind mounts show folders of the same file system, with the same device. */
export function mountOf(fd: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  // Without waiting, because it costs the kernel microseconds and never touches a disk.
  return /^mnt_id:\s*(\d+)/m.exec(fs.readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
}

/** Fills as much of the buffer as the file has from `position` on. */
export async function readFully(fd: number, buffer: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const count = await new Promise<number>((resolve, reject) => {
      fs.read(fd, buffer, filled, buffer.length - filled, position + filled, (error, bytes) =>
        error === null ? resolve(bytes) : reject(error),
      );
    });
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/** Writes the whole buffer at `position`. */
export async function writeFully(fd: number, buffer: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < buffer.length) {
    written += await new Promise<number>((resolve, reject) => {
      fs.write(fd, buffer, written, buffer.length - written, position + written, (error, bytes) =>
        error === null ? resolve(bytes) : reject(error),
      );
    });
  }
}

/** The code of an error of the system, such as `ENOENT`; undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  const { errno, code } = error as NodeJS.ErrnoException;
  // Node has no name for a quota that is used up.
  if (errno === -122 && process.platform === 'linux') return 'EDQUOT';
  return typeof errno === 'number' ? code : undefined;
}
