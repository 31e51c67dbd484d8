import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@croft/testing';
import { expect, it } from 'vitest';

it('leaves nothing when somebody ends the process', async () => {
  await using folder = await temporaryFolder();
  const name = join(folder.path, 'half');
  const program = `
    import { newFile } from ${JSON.stringify(join(import.meta.dirname, '../src/client/commands/new-file.ts'))};
    setInterval(() => {}, 1000);
    await newFile(${JSON.stringify(name)}, () => new Promise(() => {}));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await expect.poll(() => existsSync(name), { timeout: 20_000 }).toBe(true);
  child.kill('SIGINT');
  expect(await ended).toEqual([null, 'SIGINT']);
  expect(existsSync(name)).toBe(false);
});
