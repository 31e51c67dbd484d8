import { expect, it } from 'vitest';
import type { PullOnBranch } from '../store/pulls/pulls.ts';
import { deciderOf, moveOf, NOBODY } from './mover.ts';

const pull = { head_branch: 'topic', head_sha: 'a' } as PullOnBranch;
const move = { branch: 'topic', before: 'a', after: 'c' };

it.each([
  ['moved all of the way', { actorId: 7, moves: [{ ...move, branch: 'other' }, move] }, 7],
  [
    'pushed on top of what somebody else had brought',
    { actorId: 7, moves: [{ ...move, before: 'b' }] },
    null,
  ],
  [
    'moved all of the way in two pushes',
    {
      actorId: 7,
      moves: [
        { ...move, before: 'b' },
        { ...move, after: 'b' },
        { ...move, before: 'c', after: 'd' },
      ],
    },
    7,
  ],
  [
    'went there and back without end',
    {
      actorId: 7,
      moves: [
        { ...move, after: 'b' },
        { ...move, before: 'b', after: 'a' },
      ],
    },
    null,
  ],
  ['was followed by somebody else', { actorId: 7, moves: [{ ...move, after: 'b' }] }, null],
  ['moved another branch', { actorId: 7, moves: [{ ...move, branch: 'other' }] }, null],
  ['moved nothing', { actorId: 7, moves: [] }, null],
  ['is not known', { ...NOBODY, moves: [move] }, null],
])('who %s decided %#', (_what, mover, decider) => {
  expect(deciderOf(mover, pull, 'c')).toBe(decider);
});

it('merges that stand on one another are one move', () => {
  const merge = (base: string, commit: string) => ({
    base_branch: 'main',
    base_sha: base,
    commit_sha: commit,
  });
  expect(moveOf([merge('a', 'b'), merge('b', 'c')])).toEqual([{ branch: 'main', before: 'a', after: 'c' }]);
  expect(moveOf([])).toEqual([]);
});
