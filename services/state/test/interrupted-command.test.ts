import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder } from './daemon.ts';

const isRoot = process.getuid?.() === 0;

/** One large file, which takes a second to restore and no room: it is a hole. */
async function daemonWithLargeState(): Promise<Daemon> {
  const daemon = await startDaemon();
  mkdirSync(join(daemon.tree, 'closed'), { mode: 0o500 });
  writeFileSync(join(daemon.tree, 'large'), '');
  truncateSync(join(daemon.tree, 'large'), 1024 ** 3);
  await daemon.save('large');
  return daemon;
}

/** A command as somebody at a terminal has it. */
function start(daemon: Daemon, ...words: string[]): { child: ChildProcess; ended: () => Promise<unknown[]> } {
  const main = join(import.meta.dirname, '../../../main.ts');
  const child = spawn(process.execPath, [main, 'state', ...words], {
    env: { STATESVC_SOCKET: daemon.service.address.replace('unix:', '') },
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ending = Promise.all([
    once(child, 'exit'),
    text(child.stderr as NodeJS.ReadableStream & AsyncIterable<Buffer>),
  ]);
  return {
    child,
    ended: async () => {
      const [[code, signal], said] = await ending;
      return [code, signal, said];
    },
  };
}

it('a restore or an export that somebody ends gives the folder back as it was', async () => {
  const daemon = await daemonWithLargeState();
  const folder = temporaryFolder();
  if (isRoot) chownSync(folder, 65_534, 65_534);
  const facts = () => {
    const { uid, gid, mode } = statSync(folder);
    return [uid, gid, mode & 0o7777, readdirSync(folder)];
  };
  const before = facts();
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    const { child, ended } = start(daemon, 'restore', 'large', folder);
    await expect.poll(() => existsSync(join(folder, 'large'))).toBe(true);
    child.kill(signal);
    // As npm does, which hands on what the terminal has sent already.
    child.kill(signal);
    const said = `^croft state: interrupted: nothing of large was restored, and ${folder} is as it was\n$`;
    expect(await ended()).toEqual([code, null, expect.stringMatching(new RegExp(said, 'm'))]);
    expect(facts()).toEqual(before);
  }

  const made = start(daemon, 'restore', 'large', join(folder, 'a/b'));
  await expect.poll(() => existsSync(join(folder, 'a/b/large'))).toBe(true);
  made.child.kill('SIGINT');
  expect(await made.ended()).toMatchObject([130, null, expect.any(String)]);
  expect(facts()).toEqual(before);

  const file = join(folder, 'large.tar');
  const { child, ended } = start(daemon, 'export', 'large', '-o', file);
  await expect.poll(() => existsSync(file)).toBe(true);
  child.kill('SIGINT');
  const said = new RegExp(`^croft state: interrupted: ${file} was not written\\n$`, 'm');
  expect(await ended()).toEqual([130, null, expect.stringMatching(said)]);
  expect(facts()).toEqual(before);
});

it('a save that somebody ends is taken back, and he is told so', async () => {
  const daemon = await daemonWithLargeState();
  writeFileSync(join(daemon.tree, 'large'), 'x');
  truncateSync(join(daemon.tree, 'large'), 1024 ** 3 + 1);
  const { child, ended } = start(daemon, 'save', 'another');
  const isSaving = async () =>
    (await daemon.call('Status')).lines.some((line) => /SaveSystemState/.test(line));
  await expect.poll(isSaving).toBe(true);
  child.kill('SIGINT');
  expect(await ended()).toEqual([
    130,
    null,
    expect.stringMatching(/^croft state: interrupted: the daemon takes the save back, unless .*\n$/m),
  ]);
  await expect.poll(isSaving).toBe(false);
  expect((await daemon.dump()).machines[0]?.states.map(({ name }) => name)).toEqual(['large']);
});
