import { describe, expect, it } from 'vitest';
import { judgeStatuses, planQueue, type QueuedPull } from './merge-queue.ts';
import { statusWork } from './requirements.ts';

const now = new Date('2026-01-01T12:00:00Z');
const terms = { branch: 'main', tip: 'tip', batch: 3, timeoutMinutes: 60, now };
const waiting: QueuedPull = {
  queuedHead: 'head',
  isOpen: true,
  wasOut: false,
  base: 'main',
  head: 'head',
  made: undefined,
  verdict: 'pending',
};
/** Merges one on the other, the first on the tip, with what checks say of each. */
const chain = (...verdicts: QueuedPull['verdict'][]): QueuedPull[] =>
  verdicts.map((verdict, index) => ({
    ...waiting,
    made: { onto: index === 0 ? 'tip' : `m${index - 1}`, commit: `m${index}`, at: now },
    verdict,
  }));

describe('a merge queue', () => {
  const cases: [string, QueuedPull[], object][] = [
    ['waits when it is empty', [], { kind: 'wait' }],
    [
      'makes merges up to its batch',
      [waiting, waiting, waiting, waiting],
      { kind: 'make', from: 0, to: 3, onto: 'tip' },
    ],
    [
      'makes those that came later onto the last',
      [...chain('pending', 'pending'), waiting],
      { kind: 'make', from: 2, to: 3, onto: 'm1' },
    ],
    ['waits for checks', chain('pending', 'green'), { kind: 'wait' }],
    ['lands the green ones at its beginning', chain('green', 'green', 'pending'), { kind: 'land', count: 2 }],
    ['lands all', chain('green', 'green', 'green'), { kind: 'land', count: 3 }],
    [
      'sends the first away when it is red',
      chain('red', 'green'),
      { kind: 'leave', place: 0, reason: 'its checks failed' },
    ],
    ['blames nobody for the one before him', chain('pending', 'red'), { kind: 'wait' }],
    [
      'makes anew what stands on nothing any more',
      chain('pending', 'green').slice(1),
      { kind: 'make', from: 0, to: 1, onto: 'tip' },
    ],
    [
      'sends away who was closed',
      [...chain('green'), { ...waiting, isOpen: false }],
      { kind: 'leave', place: 1, reason: 'it was closed' },
    ],
    [
      'sends away who was closed and is open again',
      [{ ...waiting, wasOut: true }],
      { kind: 'leave', place: 0, reason: 'it was closed, or had another base branch, for a moment' },
    ],
    [
      'sends away who has another base',
      [{ ...waiting, base: 'other' }],
      { kind: 'leave', place: 0, reason: 'it has another base branch now' },
    ],
    [
      'sends away who was pushed to',
      [{ ...waiting, head: 'new' }],
      { kind: 'leave', place: 0, reason: 'its head branch was pushed to' },
    ],
  ];
  it.each(cases)('%s', (_, queue, step) => {
    expect(planQueue(queue, terms)).toEqual(step);
  });

  it('begins anew when the branch moved, whatever the checks said', () => {
    const moved = { ...terms, tip: 'pushed' };
    expect(planQueue(chain('green', 'red'), moved)).toEqual({ kind: 'make', from: 0, to: 2, onto: 'pushed' });
  });

  it('sends the first away when its checks take too long', () => {
    const at = (minutes: number) => ({ ...terms, now: new Date(now.getTime() + minutes * 60_000) });
    expect(planQueue(chain('pending', 'pending'), at(60))).toEqual({ kind: 'wait' });
    const reason = 'its checks took longer than 60 minutes';
    expect(planQueue(chain('pending', 'pending'), at(61))).toEqual({ kind: 'leave', place: 0, reason });
  });
});

it.each([
  [[], [], 'green'],
  [['ci'], [], 'pending'],
  [['ci'], [['ci', 'pending']], 'pending'],
  [
    ['ci'],
    [
      ['ci', 'success'],
      ['other', 'failure'],
    ],
    'green',
  ],
  [['ci', 'lint'], [['ci', 'success']], 'pending'],
  [['ci', 'lint'], [['ci', 'failure']], 'red'],
  [
    ['ci/*'],
    [
      ['ci/a', 'success'],
      ['ci/b', 'pending'],
    ],
    'pending',
  ],
  [
    ['ci/*'],
    [
      ['ci/a', 'success'],
      ['ci/b', 'error'],
    ],
    'red',
  ],
  [
    ['ci/*'],
    [
      ['ci/a', 'success'],
      ['ci/b', 'skipped'],
    ],
    'green',
  ],
])('required %j and reported %j is %s', (required, reported, verdict) => {
  const statuses = (reported as [string, string][]).map(([context, state]) => ({ context, state }));
  expect(judgeStatuses(required as string[], statuses, statusWork())).toBe(verdict);
});

it('a whole queue with names made to be slow is looked at within a moment, and nothing of it is green', () => {
  const statuses = Array.from({ length: 300 }, (_, n) => ({
    context: `${'a'.repeat(245)}${n}`,
    state: 'success',
  }));
  const required = Array.from({ length: 100 }, (_, n) => `*${'a'.repeat(n)}*${'a'.repeat(120)}*`);
  const work = statusWork();
  const begin = performance.now();
  const verdicts = Array.from({ length: 100 }, () => judgeStatuses(required, statuses, work));
  expect(new Set(verdicts)).toEqual(new Set(['pending']));
  expect(performance.now() - begin).toBeLessThan(10_000);
});
