import { expect, it } from 'vitest';
import { reasonOf } from './reason-of.ts';

const refused = (address: string) =>
  Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' });

it.each([
  ['what it says', new Error('too bad'), 'too bad'],
  [
    'each of several addresses',
    new AggregateError([refused('::1:5'), refused('127.0.0.1:5')]),
    'connect ECONNREFUSED ::1:5; connect ECONNREFUSED 127.0.0.1:5',
  ],
  ['a code', Object.assign(new Error(''), { code: 'EIO' }), 'EIO'],
  ['a name', new TypeError(''), 'TypeError'],
  ['what is no error', 'text', 'text'],
])('%s', (_what, error, reason) => {
  expect(reasonOf(error)).toBe(reason);
});
