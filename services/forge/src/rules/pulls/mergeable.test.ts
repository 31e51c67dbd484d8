import { describe, expect, it } from 'vitest';
import {
  checkOutlook,
  checkRelated,
  conflictWords,
  isMergeable,
  isWorkInProgress,
  MAX_CONFLICTS,
  type MergeOutlook,
} from './mergeable.ts';

const outlook = (outcome: MergeOutlook['outcome']): MergeOutlook => ({
  mergeBase: 'b',
  outcome,
  conflicts: [],
});

it.each([
  ['WIP: x', true],
  ['wip:x', true],
  ['[WIP] x', true],
  [' [wip]x', true],
  ['WIPE: x', false],
  ['x WIP:', false],
])('work in progress: %s is %s', (title, expected) => {
  expect(isWorkInProgress(title)).toBe(expected);
});

it.each([
  ['clean', 'T', true],
  ['nothing', 'T', false],
  ['conflicts', 'T', false],
  ['unrelated', 'T', false],
  ['clean', 'WIP: T', false],
] as const)('mergeable: %s with title %s is %s', (outcome, title, expected) => {
  expect(isMergeable(title, outlook(outcome))).toBe(expected);
});

it('a pull request whose base is gone is not mergeable', () => {
  expect(isMergeable('T', undefined)).toBe(false);
});

describe('merge rule 3', () => {
  it.each([
    ['clean', 'T', undefined],
    ['clean', 'WIP: T', 'not-allowed'],
    ['conflicts', 'T', 'not-allowed'],
    ['nothing', 'T', 'not-allowed'],
    ['unrelated', 'T', 'conflict'],
    ['unrelated', 'WIP: T', 'not-allowed'],
  ] as const)('%s with title %s: %s', (outcome, title, kind) => {
    const check = () => {
      checkOutlook(title, outlook(outcome));
      checkRelated(outlook(outcome), 'merge');
    };
    if (kind === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ kind }));
  });
});

it.each([
  [0, 'it conflicts'],
  [1, 'it conflicts in one file'],
  [2, 'it conflicts in 2 files'],
  [MAX_CONFLICTS, 'it conflicts in 100 files or more'],
])('%i files in conflict are told without their names', (count, words) => {
  expect(conflictWords(Array.from({ length: count }, (_, n) => `secret-${n}`))).toBe(words);
});
