import { startHere } from '@croft/testing';
import { expect, it } from 'vitest';
import { programsIn } from '../src/outside/programs.ts';

startHere();

const run = programsIn('/usr/bin:/bin');

it.each([
  ['an argument that is too long', ['x'.repeat(3_000_000)], /^echo spawn E2BIG$/],
  ['too many arguments', Array.from({ length: 60_000 }, () => 'x'.repeat(100)), /^echo spawn E2BIG$/],
  ['an argument with a zero byte', ['a\0b'], /null bytes/],
])('%s makes a program that did not do its work, and no error of another kind', async (_what, args, why) => {
  expect(await run('echo', args)).toEqual({
    ok: false,
    stdout: '',
    stderr: '',
    why: expect.stringMatching(why),
  });
});

it.each([
  ['that is not there', 'croft-no-such-program', [], /^the program croft-no-such-program is not installed$/],
  ['that fails without a word', 'false', [], /^false ended with 1$/],
  ['that is killed', 'sh', ['-c', 'kill -9 $$'], /^sh Command failed/],
  [
    'that says more than was expected',
    'sh',
    ['-c', 'yes | head -c 10000'],
    /^sh said more than was expected$/,
  ],
  ['that does not end', 'sleep', ['60'], /^sleep did not end within 0.2 s$/],
  ['whose child holds its output', 'sh', ['-c', 'sleep 2 & exec sleep 60'], /^sh did not end within 0.2 s$/],
])('a program %s is told in a line', async (_what, name, args, why) => {
  const began = performance.now();
  expect(await run(name, args, { timeoutMs: 200, maxBytes: 1000 })).toMatchObject({
    ok: false,
    why: expect.stringMatching(why),
  });
  expect(performance.now() - began).toBeLessThan(5000);
});

it('output that is no UTF-8 is readable all the same, and nothing of the environment is handed on', async () => {
  const ran = await run('sh', ['-c', "printf 'a\\377b'; printf 'c\\376' >&2; env | cut -d= -f1 | sort"]);
  expect(ran).toMatchObject({ ok: true, stderr: 'c\ufffd', why: '' });
  expect(ran.stdout).toMatch(/^a\ufffdbLC_ALL\nPATH\n(?:PWD\n)?(?:SHLVL\n)?(?:_\n)?$/);
});
