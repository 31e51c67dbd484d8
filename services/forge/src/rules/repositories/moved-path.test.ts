import { expect, it } from 'vitest';
import { movedPath } from './moved-path.ts';

it.each([
  ['/api/v1/repos/ada/old/issues?state=all&q=a?b', '/api/v1/repos/ada/new/issues?state=all&q=a?b'],
  ['/api/v1/repos/ADA/Old', '/api/v1/repos/ada/new'],
  ['/api/v1/repos/%61da/ol%64/pulls/1', '/api/v1/repos/ada/new/pulls/1'],
  ['/ada/old.git/info/refs?service=git-upload-pack', '/ada/new.git/info/refs?service=git-upload-pack'],
  ['/ada/old/git-upload-pack', '/ada/new/git-upload-pack'],
  ['/api/v1/repos/ada/other', undefined],
  ['/ada/api/v1/ada/old', '/ada/api/v1/ada/new'],
  ['/api/v1/repos/ada/%zz', undefined],
])('%s → %s', (url, expected) => {
  expect(movedPath(url, '/api/v1', ['ada', 'old'], ['ada', 'new'])).toBe(expected);
});

it.each([
  ['/api/v1/orgs/v1?page=1', '/api/v1/orgs/one?page=1'],
  ['/api/v1/orgs/other', undefined],
  ['/v1/tool.git/info/refs', '/one/tool.git/info/refs'],
])('a name that is a part of the prefix: %s → %s', (url, expected) => {
  expect(movedPath(url, '/api/v1', ['v1'], ['one'])).toBe(expected);
});

it('a name can bring nothing into the path', () => {
  expect(movedPath('/x/a', '/api/v1', ['a'], ['..//host'])).toBe('/x/..%2F%2Fhost');
});
