import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const FILES_PER_FOLDER = 100;
const run = promisify(execFile);

/** A tree of files, a hundred in a folder. */
export async function makeTree(
  tree: string,
  files: number,
  content: (file: number) => Buffer,
): Promise<void> {
  for (let first = 0; first < files; first += FILES_PER_FOLDER) {
    await mkdir(join(fileOf(tree, first), '..'), { recursive: true });
    await Promise.all(
      Array.from({ length: FILES_PER_FOLDER }, (_, at) =>
        writeFile(fileOf(tree, first + at), content(first + at)),
      ),
    );
  }
}

/** Writes to a hundred files, others in each round, spread over the tree. */
export async function changeTree(tree: string, files: number, round: number): Promise<void> {
  for (let file = round; file < files; file += FILES_PER_FOLDER)
    await writeFile(fileOf(tree, file), mixedContent(file));
}

/** 1 to 40 KB, no two alike. */
export function mixedContent(seed: number): Buffer {
  return randomBytes(1000 + ((seed * 397) % 40_000));
}

/** What a person would do instead. @returns milliseconds */
export async function copyTree(tree: string, copy: string): Promise<number> {
  await rm(copy, { recursive: true, force: true });
  return timed(() => run('cp', ['-a', '--reflink=never', tree, copy]));
}

/** Waits until everything in a folder is on the disk, by one call for its whole file system. @returns milliseconds */
export async function syncAtOnce(folder: string): Promise<number> {
  return timed(() => run('sync', ['-f', folder]));
}

/** Waits for each file by itself, as a program that writes them one by one has to. @returns milliseconds */
export async function syncEach(folder: string): Promise<number> {
  return timed(() =>
    run('find', [folder, '-type', 'f', '-exec', 'sync', '--', '{}', '+'], { timeout: 300_000 }),
  );
}

/** Bytes that a folder takes on the disk. */
export async function spaceOf(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-s', '--block-size=1', folder]);
  return Number.parseInt(stdout, 10);
}

/** Milliseconds that something takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function fileOf(tree: string, file: number): string {
  const folder = Math.floor(file / FILES_PER_FOLDER);
  return join(tree, `d${folder % 10}`, `e${folder}`, `file-${file % FILES_PER_FOLDER}.conf`);
}
