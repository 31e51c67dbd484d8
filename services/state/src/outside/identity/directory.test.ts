import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { programsIn } from '../programs.ts';
import { Directory } from './directory.ts';

/** A directory for which `getent` is a script that writes down when it begins and ends. */
function directoryWith(seconds: number) {
  const folder = mkdtempSync(join(tmpdir(), 'croft-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, 'log');
  writeFileSync(log, '');
  const script = `#!/bin/sh\necho + >> ${log}\nsleep ${seconds}\necho - >> ${log}\nexec /usr/bin/getent "$@"\n`;
  writeFileSync(join(folder, 'getent'), script);
  chmodSync(join(folder, 'getent'), 0o755);
  const marks = () => readFileSync(log, 'utf8').trim().split('\n');
  return {
    directory: new Directory(programsIn(`${folder}:/usr/bin:/bin`)),
    asked: () => marks().filter((mark) => mark === '+').length,
    atOnce: () => {
      let running = 0;
      return Math.max(...marks().map((mark) => (running += mark === '+' ? 1 : -1)));
    },
  };
}

it('one program answers everybody who asks the same, and those who ask soon after', async () => {
  const { directory, asked } = directoryWith(0.1);
  const answers = await Promise.all(Array.from({ length: 100 }, () => directory.find('passwd', 'root')));
  answers.push(await directory.find('passwd', 'root'));
  expect(new Set(answers.map((fields) => fields?.[2]))).toEqual(new Set(['0']));
  expect(asked()).toBe(1);
  await sleep(5200);
  await directory.find('passwd', 'root');
  expect(asked()).toBe(2);
});

it('attack: eight programs run at once, and of those that wait only so many', async () => {
  const { directory, atOnce, asked } = directoryWith(0.1);
  const keys = Array.from({ length: 300 }, (_, at) => `no-such-${at}`);
  const answers = await Promise.allSettled(keys.map((key) => directory.find('passwd', key)));
  expect(atOnce()).toBeLessThanOrEqual(8);
  expect(asked()).toBe(264);
  const refused = answers.filter((answer) => answer.status === 'rejected');
  expect(refused).toHaveLength(300 - 264);
  expect(refused[0]?.reason).toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('too many ask at once'),
  });
  expect(await directory.find('passwd', 'no-such-299')).toBeUndefined();
});
