import { closeSync, fchmodSync, fsyncSync, mkdirSync, rmSync, writeSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { NewFiles, WriteRequest, WriteResult } from './file-writer.ts';
import { type OpenFile, SpareFiles } from './spare-files.ts';

// The thread of file-writer.ts: one request after the other, each as a whole, with calls that wait.

const spares = new SpareFiles();

parentPort?.on('message', (request: WriteRequest) => {
  parentPort?.postMessage({ job: request.job, ...answer(request) } satisfies WriteResult);
  if ('files' in request) spares.refill(request.files.folder);
});

function answer(request: WriteRequest): Omit<WriteResult, 'job'> {
  try {
    if ('files' in request) return { paths: write(request.files) };
    spares.forget(request.forget);
    return { paths: [] };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { paths: [], failure: { message, code } };
  }
}

function write({ folder, contents, mode, places }: NewFiles): string[] {
  const taken: OpenFile[] = [];
  try {
    for (const place of places) makeFolder(place);
    for (const content of contents) {
      const one = spares.take(folder);
      taken.push(one);
      fchmodSync(one.file, mode);
      for (let start = 0; start < content.length; ) start += writeSync(one.file, content, start);
    }
    // All of them are there when the first is flushed: the disk then has less to do for the others.
    for (const { file } of taken) fsyncSync(file);
  } catch (error) {
    for (const { path } of taken) rmSync(path, { force: true });
    throw error;
  } finally {
    for (const { file } of taken) closeSync(file);
  }
  return taken.map(({ path }) => path);
}

/** Most often it is there. What is in the way is told when something is placed in it. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch {}
}
