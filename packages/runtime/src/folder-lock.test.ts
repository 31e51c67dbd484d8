import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FolderInUse, lockFolder } from './index.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'croft-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const HOLDER = `
  import { lockFolder } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
  lockFolder(process.argv[1], 'The folder');
  console.log('held');
  setInterval(() => {}, 1000);
`;

async function holdElsewhere() {
  const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  return holder;
}

it('refuses a folder that another process holds and names it', async () => {
  const holder = await holdElsewhere();
  expect(() => lockFolder(folder, 'The data folder')).toThrow(FolderInUse);
  expect(() => lockFolder(folder, 'The data folder')).toThrow(new RegExp(`process ${holder.pid}`));
  holder.kill();
  await once(holder, 'exit');
});

it('is free again the moment its holder is killed', async () => {
  const holder = await holdElsewhere();
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  using lock = lockFolder(folder, 'The data folder');
  expect(lock).toBeDefined();
});

it('can be given back and taken again', () => {
  lockFolder(folder, 'The folder')[Symbol.dispose]();
  using lock = lockFolder(folder, 'The folder');
  expect(lock).toBeDefined();
});

it('goes to exactly one of two that ask at the same instant', async () => {
  const races = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', HOLDER, folder], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  const outcomes = await Promise.all(
    races.map((racer) =>
      Promise.race([
        once(racer.stdout, 'data').then(() => 'held'),
        once(racer, 'exit').then(() => 'refused'),
      ]),
    ),
  );
  for (const racer of races) racer.kill();
  expect(outcomes.sort()).toEqual(['held', 'refused', 'refused', 'refused']);
});

it('says in the words of the system why a folder takes no lock', () => {
  expect(() => lockFolder(join(folder, 'missing'), 'The folder')).toThrow(
    expect.objectContaining({ code: 'ENOENT' }),
  );
  mkdirSync(join(folder, 'lock'));
  expect(() => lockFolder(folder, 'The folder')).toThrow(expect.objectContaining({ code: 'EISDIR' }));
});
