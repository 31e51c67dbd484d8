import { expect, it } from 'vitest';
import { readHookAnswer, refusalIn } from './hook-answer.ts';

it('nothing is consent, and only an object says anything', () => {
  expect(readHookAnswer(undefined)).toEqual({});
  expect(readHookAnswer(null)).toEqual({});
  expect(readHookAnswer({ a: 1 })).toEqual({ a: 1 });
  for (const other of [[], 'x', 7, true]) expect(readHookAnswer(other)).toBeUndefined();
});

it.each<[string, unknown, unknown]>([
  ['a status of its own', { http_code: 403, message: 'no' }, { status: 403, message: 'no' }],
  ['none', { message: 'no' }, { status: 500, message: 'no' }],
  ['that of a success', { http_code: 200, message: 'no' }, { status: 500, message: 'no' }],
  ['that of a redirect', { http_code: 302, message: 'no' }, { status: 500, message: 'no' }],
  ['a text', { http_code: '403', message: 'no' }, { status: 500, message: 'no' }],
  ['one there is not', { http_code: 999, message: 'no' }, { status: 500, message: 'no' }],
  ['without a message', { http_code: 403 }, undefined],
  ['with an empty message', { http_code: 403, message: '' }, undefined],
  ['that is no object', 'no', undefined],
  ['that is null', null, undefined],
])('a refusal with %s', (_name, error, expected) => {
  expect(refusalIn({ error })).toEqual(expected);
});
