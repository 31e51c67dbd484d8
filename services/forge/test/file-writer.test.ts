import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FileWriter } from '../src/outside/git/file-writer.ts';
import { SpareFiles } from '../src/outside/git/spare-files.ts';

// Files that are on the disk when they are told of, written in a thread of its own, and those it keeps at hand.

const stack = new AsyncDisposableStack();
const writer = new FileWriter();
let folder: string;
beforeAll(async () => {
  folder = stack.use(await temporaryFolder()).path;
  stack.defer(() => writer.close());
});
afterAll(() => stack.disposeAsync());

const bytes = (...texts: string[]) => texts.map((text) => Buffer.from(text));
const write = (contents: readonly Buffer[], names?: string[]) =>
  writer.write({ folder, contents, mode: 0o444, ...(names && { names }) });
const files = () => readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));

it('writes what it is given, in its order, readable by all and writable by nobody', async () => {
  const paths = await write(bytes('one', 'two', 'x'.repeat(100_000)));
  expect(paths.map((path) => readFileSync(path, 'utf8').slice(0, 3))).toEqual(['one', 'two', 'xxx']);
  expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o444, 0o444, 0o444]);
  for (const path of paths) rmSync(path);
});

it('gives them their names, in folders that are made for it', async () => {
  const place = join(folder, 'ab');
  const names = [join(place, 'one'), join(place, 'two')];
  expect(await write(bytes('1', '2'), names)).toEqual(names);
  // One that is there already gives way.
  expect(await write(bytes('3'), names.slice(0, 1))).toEqual(names.slice(0, 1));
  expect(names.map((path) => readFileSync(path, 'utf8'))).toEqual(['3', '2']);
  rmSync(place, { recursive: true });
  writeFileSync(place, '');
  await expect(write(bytes('1', '2'), names)).rejects.toMatchObject({ code: 'ENOTDIR' });
  expect(files().filter((text) => text !== '')).toEqual([]);
  rmSync(place);
});

it('answers many at once, each with its own', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => write(bytes(`${n}`))));
  expect(answers.map(([path = '']) => readFileSync(path, 'utf8'))).toEqual(answers.map((_, n) => `${n}`));
  for (const [path = ''] of answers) rmSync(path);
});

it('does without files at hand that somebody removed', async () => {
  await write(bytes('x')).then(([path = '']) => rmSync(path));
  await expect.poll(files).toEqual(['', '', '', '']);
  for (const name of readdirSync(folder).slice(1)) rmSync(join(folder, name));
  const paths = await write(bytes('a', 'b', 'c', 'd', 'e'));
  expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(['a', 'b', 'c', 'd', 'e']);
  for (const path of paths) rmSync(path);
});

it('has nobody wait for a thread that is lost, and tells nobody that what the next one wrote is not there', async () => {
  const own = new FileWriter();
  const place = stack.use(await temporaryFolder()).path;
  // Nobody asks so: it ends the thread.
  await expect(own.write(undefined as never)).rejects.toThrow();
  const wished = Array.from({ length: 100 }, async (_, n) => {
    await new Promise((turn) => setTimeout(turn, n / 2));
    return await own.write({ folder: place, contents: bytes(`${n}`), mode: 0o444 }).catch(() => undefined);
  });
  const written = (await Promise.all(wished)).flatMap((paths) => paths ?? []);
  expect(written.length).toBeGreaterThan(0);
  const there = readdirSync(place).map((name) => join(place, name));
  expect(there.filter((path) => statSync(path).size > 0).sort()).toEqual(written.sort());
  await own.close();
});

it('says why it could not write, leaves nothing, and goes on', async () => {
  const elsewhere = { folder: join(folder, 'missing'), contents: bytes('x'), mode: 0o444 };
  await expect(writer.write(elsewhere)).rejects.toMatchObject({
    code: 'ENOENT',
    message: expect.stringContaining('no such file'),
  });
  const [path = ''] = await write(bytes('after'));
  expect(files().filter((text) => text !== '')).toEqual(['after']);
  rmSync(path);
});

it('keeps empty files at hand, and lets go of them where a folder is about to go', async () => {
  await write(bytes('x')).then(([path = '']) => rmSync(path));
  await expect.poll(files).toEqual(['', '', '', '']);
  await writer.forget(folder);
  expect(files()).toEqual([]);
  // It is no refusal: who writes next is served.
  const [path = ''] = await write(bytes('again'));
  expect(readFileSync(path, 'utf8')).toBe('again');
  rmSync(path);
});

it('leaves no empty files when it ends', async () => {
  const own = new FileWriter();
  await own.close();
  const [path = ''] = await own.write({ folder, contents: bytes('x'), mode: 0o444 });
  rmSync(path);
  await expect.poll(() => files().length).toBeGreaterThan(0);
  await writer.forget(folder);
  await own.close();
  expect(files()).toEqual([]);
});

it('what is at hand is bounded, and what somebody removed is no trouble', async () => {
  const spares = new SpareFiles();
  const folders = await Promise.all(
    Array.from({ length: 20 }, async () => stack.use(await temporaryFolder()).path),
  );
  for (const each of folders) spares.refill(each);
  const counts = () => folders.map((each) => readdirSync(each).length);
  await expect.poll(counts).toEqual([0, 0, 0, 0, ...Array.from({ length: 16 }, () => 4)]);
  const last = folders.at(-1) ?? '';
  rmSync(last, { recursive: true });
  spares.refill(last);
  expect(() => spares.take(last)).toThrow('ENOENT');
  spares.forget('');
  expect(folders.slice(0, -1).map((each) => readdirSync(each).length)).toEqual(
    Array.from({ length: 19 }, () => 0),
  );
});

it('a file of somebody else is never taken for one of its own', async () => {
  const theirs = join(folder, 'theirs');
  writeFileSync(theirs, 'theirs');
  const paths = await write(bytes('a', 'b', 'c', 'd', 'e', 'f'));
  expect(new Set([...paths, theirs]).size).toBe(7);
  expect(readFileSync(theirs, 'utf8')).toBe('theirs');
});

it('replaces a file if it is what it was, and keeps nothing open of what it replaced', async () => {
  const place = stack.use(await temporaryFolder()).path;
  const [file, lock] = [join(place, 'main'), join(place, 'main.lock')];
  const swap = async (old: string, text: string) => {
    const [value = ''] = await writer.write({ folder: place, contents: bytes(text), mode: 0o644 });
    return await writer.swap({ file, value, lock, old });
  };
  writeFileSync(file, '0');
  for (let n = 0; n < 20; n++)
    expect(await swap(`${n}`, `${n + 1}`)).toEqual({ isDone: true, found: `${n}` });
  expect(await swap('19', 'late')).toEqual({ isDone: false, found: '20' });
  expect(readFileSync(file, 'utf8')).toBe('20');
  rmSync(file);
  expect(await swap('20', 'gone')).toEqual({ isDone: false, found: undefined });
  mkdirSync(file);
  expect(await swap('20', 'in the way')).toEqual({ isDone: false, found: undefined });
  await writer.forget(place);
  expect(readdirSync(place)).toEqual(['main']);
  await expect.poll(() => openIn(place)).toEqual([]);
});

/** What this process has open there, deleted or not. */
function openIn(place: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`);
      return path.startsWith(place) ? [path] : [];
    } catch {
      return [];
    }
  });
}
