import { expect, it } from 'vitest';
import { interestsHook } from './hook-filter.ts';

it.each([
  ['push', 'refs/heads/main', '', true],
  ['push', 'refs/heads/a/b', '*', true],
  ['push', 'refs/heads/main', 'main', true],
  ['push', 'refs/heads/other', 'main', false],
  ['push', 'refs/heads/release/1', 'release/*', true],
  ['push', 'refs/heads/feature/x', 'feature*', true],
  ['push', 'refs/heads/release/1', '{main,rel*}', true],
  ['push', 'refs/heads/main', 'refs/heads/main', true],
  ['push', 'refs/heads/main', 'refs/tags/*', false],
  ['push', 'refs/heads/release/1', '{main,release/*}', true],
  ['push', 'refs/tags/main', 'main', false],
  ['push', 'refs/tags/v1', 'refs/tags/*', true],
  ['push', 'refs/heads/main', '[', false],
  ['create', 'refs/heads/main', '', false],
  ['issues', undefined, 'main', true],
] as const)('%s of %s with the filter %j: %s', (type, ref, filter, wanted) => {
  const message = ref === undefined ? { type } : { type, ref };
  expect(interestsHook({ events: ['push', 'issues'], branch_filter: filter }, message)).toBe(wanted);
});

it('a filter made to be slow wants nothing', () => {
  const hook = { events: ['push'], branch_filter: `{,c}{,c}{,c}{,c}${'*a'.repeat(110)}b` };
  const begin = performance.now();
  for (let n = 0; n < 25; n++)
    expect(interestsHook(hook, { type: 'push', ref: `refs/heads/${'a'.repeat(240)}` })).toBe(false);
  expect(performance.now() - begin).toBeLessThan(3000);
});
