import { git } from '@croft/testing';
import { expect, it } from 'vitest';
import { pushBranch } from './forge.ts';
import { killDuring, useKillableForge } from './killable-forge.ts';
import { stopHeader } from './steps.ts';

// A stack that is merged while the forge is killed: afterwards all of it is merged or nothing.

const forge = useKillableForge();
const { ada } = forge;
const at = '/repos/ada/work';
/** More than a merge of two takes. */
const STEPS = 60;

interface Stacked {
  base: string;
  numbers: number[];
}

/** Two pull requests, one on the other. */
async function stacked(name: string): Promise<Stacked> {
  const { tree } = forge;
  await git(tree, 'fetch', '-q', 'origin');
  await git(tree, 'push', '-q', 'origin', `origin/main:refs/heads/${name}`);
  await git(tree, 'fetch', '-q', 'origin');
  const numbers: number[] = [];
  let below = name;
  for (const level of ['lower', 'upper']) {
    const head = `${name}-${level}`;
    await pushBranch(tree, head, { [head]: '1' }, `origin/${below}`);
    await git(tree, 'fetch', '-q', 'origin');
    const { body } = await ada.call('POST', `${at}/pulls`, { head, base: below, title: head });
    numbers.push(body.number);
    below = head;
  }
  return { base: name, numbers };
}

const merge = ({ numbers }: Stacked, Do: string, headers = {}) =>
  ada.call('POST', `${at}/pulls/${numbers[1]}/merge`, { merge_stack: true, Do }, headers);

/** All of it is merged, or nothing, by rows and refs alike; returns which. */
async function checkWhole({ base, numbers }: Stacked, before: string): Promise<boolean> {
  const pulls = await Promise.all(
    numbers.map(async (number) => (await ada.call('GET', `${at}/pulls/${number}`)).body),
  );
  const merged = pulls.map((pull) => pull['merged'] as boolean);
  expect(new Set(merged).size).toBe(1);
  expect(await forge.sql.rows`select * from :schema.merges`).toEqual([]);
  const tip = await git(forge.bare, 'rev-parse', base);
  if (merged[0]) {
    expect(tip).toBe(pulls[1]?.merge_commit_sha);
    expect(pulls.map((pull) => pull.base)).toMatchObject([{ ref: base }, { ref: base }]);
    const path = await git(forge.bare, 'rev-list', '--first-parent', '--reverse', `${before}..${base}`);
    expect(path.split('\n')).toEqual(pulls.map((pull) => pull.merge_commit_sha));
  } else {
    expect(tip).toBe(before);
    expect(pulls.map((pull) => pull.base)).toMatchObject([{ ref: base }, { ref: `${base}-lower` }]);
  }
  const closed = await forge.sql.row<{ count: number }>`
    select count(*)::int as count from :schema.issues where number = any(${numbers}::int[]) and closed_at is not null`;
  expect(closed?.count).toBe(merged[0] ? 2 : 0);
  return merged[0] as boolean;
}

it.each(['merge', 'squash', 'rebase'])(
  'killed before each step of a merge by %s, all of it is merged or nothing',
  async (style) => {
    const outcomes: boolean[] = [];
    const steps: string[] = [];
    let stack = await stacked(`${style}-0`);
    while (steps.length < STEPS) {
      const before = await git(forge.bare, 'rev-parse', stack.base);
      const stopped = forge.stopped('stack');
      const asked = merge(stack, style, stopHeader('stack', steps)).catch(() => undefined);
      const answer = await Promise.race([stopped, asked]);
      if (typeof answer === 'object') {
        expect(answer.status).toBe(200);
        expect(await checkWhole(stack, before)).toBe(true);
        break;
      }
      steps.push(await stopped);
      await forge.kill();
      await asked;
      await forge.start();
      const isMerged = await checkWhole(stack, before);
      outcomes.push(isMerged);
      if (isMerged) stack = await stacked(`${style}-${steps.length}`);
    }
    // Both ends were seen, and the end came.
    expect(new Set(outcomes)).toEqual(new Set([true, false]));
    expect(outcomes.length).toBeLessThan(STEPS);
    expect(await git(forge.bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  },
  300_000,
);

it('killed between the move of the branch and the records, all of it is recorded at the next start', async () => {
  const stack = await stacked('late');
  const before = await git(forge.bare, 'rev-parse', 'late');
  await killDuring(forge, 'update of merged_at on forge.pulls', async () => {
    merge(stack, 'squash').catch(() => {});
    await expect.poll(() => git(forge.bare, 'rev-parse', 'late')).not.toBe(before);
  });
  await forge.start();
  expect(await checkWhole(stack, before)).toBe(true);
});
