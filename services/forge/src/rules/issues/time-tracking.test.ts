import { expect, it } from 'vitest';
import { decideTracking } from './time-tracking.ts';

const issue = { poster_id: 1, assignee_ids: [2, 3] };
const reader = (userId: number) => ({ userId, isWriter: false });
const writer = { userId: 9, isWriter: true };
const on = { tracks_time: true, only_contributors_track_time: false };
const limited = { tracks_time: true, only_contributors_track_time: true };
const off = { tracks_time: false, only_contributors_track_time: false };

it.each([
  ['any reader', on, reader(4), 'allowed'],
  ['a reader where contributors do', limited, reader(4), 'contributors only'],
  ['its author', limited, reader(1), 'allowed'],
  ['an assignee', limited, reader(3), 'allowed'],
  ['a writer', limited, writer, 'allowed'],
  ['a writer where nobody does', off, writer, 'off'],
  ['its author where nobody does', { ...off, only_contributors_track_time: true }, reader(1), 'off'],
] as const)('%s', (_who, switches, worker, outcome) => {
  expect(decideTracking(switches, worker, issue)).toBe(outcome);
});

it('what a deleted account wrote is nobody else’s', () => {
  expect(decideTracking(limited, reader(0), { poster_id: null, assignee_ids: [] })).toBe('contributors only');
});
