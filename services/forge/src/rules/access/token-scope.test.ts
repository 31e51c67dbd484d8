import { expect, it } from 'vitest';
import { scopeAllows, unknownScopes } from './token-scope.ts';

it.each([
  [[], 'issue', 'write', true],
  [['all'], 'issue', 'write', true],
  [['public-only'], 'issue', 'write', true],
  [['read:issue'], 'issue', 'read', true],
  [['read:issue'], 'issue', 'write', false],
  [['write:issue'], 'issue', 'read', true],
  [['write:issue'], 'repository', 'read', false],
  [['public-only', 'read:user'], 'repository', 'read', false],
] as const)('%j on %s for %s: %s', (scopes, area, access, allowed) => {
  expect(scopeAllows(scopes, area, access)).toBe(allowed);
});

it('names the scopes nobody knows', () => {
  expect(unknownScopes(['all', 'read:package', 'write:world', ''])).toEqual(['write:world', '']);
});
