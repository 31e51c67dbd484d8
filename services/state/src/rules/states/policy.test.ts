import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readPolicyFile } from '../../outside/read-policy-file.ts';
import { DEFAULT_POLICY } from './policy.ts';

function fileOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'croft-policy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'policy.yaml'), text);
  return join(folder, 'policy.yaml');
}

it.each([
  ['no file', undefined, DEFAULT_POLICY],
  ['an empty file', '', DEFAULT_POLICY],
  ['a comment', '# nothing\n', DEFAULT_POLICY],
  ['headings with nothing under them', 'keep:\nmenu:\n', DEFAULT_POLICY],
  ['a part', 'menu:\n  states: 5\n', { ...DEFAULT_POLICY, menu: { states: 5, entries: 60 } }],
  [
    'everything',
    'keep:\n  days: 0\n  newest: 3\n  rules:\n    - {name: a day, buckets: 2, days: 3, keep: 4}\n    - keep: 0\nmenu: {states: 1, entries: 2}\n',
    {
      keep: {
        days: 0,
        newest: 3,
        rules: [
          { name: 'a day', buckets: 2, days: 3, keep: 4 },
          { name: 'rule 2', buckets: 1, days: 1, keep: 0 },
        ],
      },
      menu: { states: 1, entries: 2 },
    },
  ],
  ['no rules', 'keep:\n  rules: []\n', { ...DEFAULT_POLICY, keep: { ...DEFAULT_POLICY.keep, rules: [] } }],
])('reads %s', async (_what, text, policy) => {
  expect(await readPolicyFile(text === undefined ? '/nonexistent/policy.yaml' : fileOf(text))).toEqual(
    policy,
  );
});

it.each([
  ['an unknown key', 'keep:\n  dais: 3\n', 'line 2: keep has no "dais", only days, newest, rules'],
  ['an unknown heading', '\nkeeps: {}\n', 'line 2: the policy has no "keeps"'],
  ['a negative number', 'keep:\n  newest: -1\n', 'line 2: keep.newest is a whole number from 0 to 10000'],
  ['a fraction', 'keep:\n  newest: 1.5\n', 'line 2: keep.newest'],
  ['a text for a number', 'keep:\n  newest: "20"\n', 'line 2: keep.newest'],
  ['a number too large', 'keep:\n  days: 1e9\n', 'line 2: keep.days is a whole number from 0 to 3650'],
  ['nothing for a number', 'keep:\n  days:\n', 'keep.days'],
  ['a list for names', '- keep\n', 'line 1: the policy holds names and values'],
  ['a text', 'keep everything', 'line 1: the policy holds names and values'],
  ['names for a list', 'keep:\n  rules: {keep: 1}\n', 'line 2: keep.rules is a list'],
  ['a rule that keeps nothing named', 'keep:\n  rules:\n    - days: 1\n', 'line 3: keep.rules[0] needs keep'],
  [
    'a rule of no days',
    'keep:\n  rules:\n    - {days: 0, keep: 1}\n',
    'keep.rules[0].days is a whole number from 1',
  ],
  ['a rule that is none', 'keep:\n  rules: [3]\n', 'keep.rules[0] holds names and values'],
  ['a key twice', 'menu: {}\nmenu: {}\n', 'line 2: Map keys must be unique'],
  ['what is no YAML', 'keep: [\n', 'line 2'],
  ['an alias', 'menu: &a {states: 1}\nkeep: *a\n', 'line 2: keep holds names and values'],
  ['too much', `# ${'x'.repeat(70_000)}`, 'it is larger than 64 KiB'],
])('refuses %s and says where', async (_what, text, says) => {
  await expect(readPolicyFile(fileOf(text))).rejects.toThrow(says);
});

it('reads on when a file comes in pieces', async (context) => {
  // One read of what the kernel makes up gives a page at most.
  if (process.platform !== 'linux') context.skip();
  await expect(readPolicyFile('/proc/self/smaps')).rejects.toThrow('it is larger than 64 KiB');
});

it('tells all problems at once', async () => {
  const file = fileOf('keep:\n  days: x\nmenu:\n  stats: 1\n');
  await expect(readPolicyFile(file)).rejects.toThrow(
    /^policy file .+: line 2: keep\.days .+; line 4: menu has no "stats"/,
  );
});
