import { expect, it } from 'vitest';
import { checkDeclared } from './declared-answers.ts';

// Every answer the tests of the forge get is held against the OpenAPI document; here is that this can fail.
it.each([
  ['a member of another type', 200, { version: 1 }, /answered 200 with another body/],
  ['a member that is missing', 200, {}, /answered 200 with another body/],
  ['a member nobody declared', 200, { version: '1', secret: 'x' }, /does not declare \.secret/],
  ['a status nobody declared', 201, { version: '1' }, /does not declare the status 201/],
])('%s is noticed', (_what, status, body, message) => {
  expect(() => checkDeclared('GET', '/version', status, body)).toThrow(message);
});

it('members of lists are looked at, by the route that fits best', () => {
  const check = (path: string, body: unknown) => () => checkDeclared('GET', path, 200, body);
  expect(check('/repos/ada/hello/issues', [{ id: 'x' }])).toThrow(
    /GET \/repos\/:owner\/:repo\/issues answered/,
  );
  expect(check('/repos/issues/search', [{ id: 'x' }])).toThrow(/GET \/repos\/issues\/search answered/);
  expect(check('/repos/ada/hello/contents/a/b', 5)).toThrow(/contents\/\* answered/);
  expect(check('/nowhere', 5)).not.toThrow();
});
