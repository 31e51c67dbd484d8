import { expect, test } from 'vitest';
import { isChangeOpen } from './pending-change.ts';

const now = new Date('2026-01-01T00:01:00Z');

test.each([
  ['one that was never begun', null, 60_000, false],
  ['one of this moment', '2026-01-01T00:01:00+00:00', 60_000, true],
  ['one a moment before its end', '2026-01-01T00:00:00.001+00:00', 60_000, true],
  ['one at its end', '2026-01-01T00:00:00+00:00', 60_000, false],
  ['one that may not live at all', '2026-01-01T00:01:00+00:00', 0, false],
])('%s', (_name, begunAt, lifeMs, open) => {
  expect(isChangeOpen(begunAt, lifeMs, now)).toBe(open);
});
