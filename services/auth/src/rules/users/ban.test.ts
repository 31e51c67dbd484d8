import { expect, test } from 'vitest';
import { instant } from '../../rows.ts';
import { isBanned } from './ban.ts';

test.each([
  ['never banned', null, false],
  ['banned until later', '2026-01-02T03:04:05.679+00:00', true],
  ['banned until now', '2026-01-02T03:04:05.678+00:00', false],
  ['the time zone counts', '2026-01-02T04:04:05.679+01:00', true],
  ['banned for ever', 'infinity', true],
])('%s', (_name, until, banned) => {
  expect(isBanned(instant(until), new Date('2026-01-02T03:04:05.678Z'))).toBe(banned);
});
