import {
  close,
  closeSync,
  fchmodSync,
  fsync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { parentPort } from 'node:worker_threads';
import type { FileSwap, NewFiles, Swapped, WriteRequest, WriteResult } from './file-writer.ts';
import { type OpenFile, SpareFiles } from './spare-files.ts';

// The thread of file-writer.ts. What it asks of the system waits, but for the disk: what others write goes there meanwhile.

const flush = promisify(fsync);
const spares = new SpareFiles();
const underWay = new Set<Promise<unknown>>();

parentPort?.on('message', (request: WriteRequest) => {
  const doing = answer(request).then((result) =>
    parentPort?.postMessage({ job: request.job, ...result } satisfies WriteResult),
  );
  if ('forget' in request) return;
  underWay.add(doing);
  void doing.then(() => {
    underWay.delete(doing);
    if ('files' in request) spares.refill(request.files.folder);
  });
});

type Answer =
  | { value: string[] | Swapped | undefined }
  | { failure: { message: string; code: string | undefined } };

async function answer(request: WriteRequest): Promise<Answer> {
  try {
    if ('files' in request) return { value: await write(request.files) };
    if ('swap' in request) return { value: swap(request.swap) };
    await Promise.all(underWay);
    spares.forget(request.forget);
    return { value: undefined };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { failure: { message, code } };
  }
}

async function write({ folder, contents, mode, names }: NewFiles): Promise<string[]> {
  const taken: OpenFile[] = [];
  try {
    try {
      for (const place of new Set(names?.map((name) => dirname(name)))) makeFolder(place);
      for (const content of contents) {
        const one = spares.take(folder);
        taken.push(one);
        fchmodSync(one.file, mode);
        for (let start = 0; start < content.length; ) start += writeSync(one.file, content, start);
      }
      // Side by side, so that the file system has one commit for all of them.
      const flushed = await Promise.allSettled(taken.map(({ file }) => flush(file)));
      for (const one of flushed) if (one.status === 'rejected') throw one.reason;
    } finally {
      for (const { file } of taken) closeSync(file);
    }
    return taken.map(({ path }, index) => place(path, names?.[index] ?? path));
  } catch (error) {
    for (const { path } of taken) rmSync(path, { force: true });
    throw error;
  }
}

/** Most often it is there. What is in the way is told when something is placed in it. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch {}
}

/** Gives a file its name. Somebody may have tidied its folder away. */
function place(path: string, name: string): string {
  if (name === path) return path;
  try {
    renameSync(path, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    mkdirSync(dirname(name), { recursive: true });
    renameSync(path, name);
  }
  return name;
}

/** The lock is complete when it appears, and becomes the file. */
function swap({ file, value, lock, old }: FileSwap): Swapped {
  const isLocked = succeeds(() => linkSync(value, lock));
  succeeds(() => unlinkSync(value));
  if (!isLocked) return { isDone: false, found: undefined };
  const before = openText(file);
  const found = before?.text;
  const isDone = found === old && succeeds(() => renameSync(lock, file));
  if (isDone) flushFolder(dirname(file));
  else unlinkSync(lock);
  // What was replaced goes from the disk when nobody has it open any more. That takes some file systems longer than all of the
  // above (ext4 with `discard`: 1.5 ms), and nobody waits for it.
  if (before !== undefined) close(before.opened, () => {});
  return { isDone, found };
}

/** What is in a file, which stays open. */
function openText(file: string): { opened: number; text: string } | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(file, 'r');
    return { opened, text: readFileSync(opened, 'latin1') };
  } catch {
    if (opened !== undefined) closeSync(opened);
    return undefined;
  }
}

function flushFolder(folder: string): void {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

function succeeds(doing: () => void): boolean {
  try {
    doing();
    return true;
  } catch {
    return false;
  }
}
