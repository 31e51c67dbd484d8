import { expect, it } from 'vitest';
import { areTooMany, refuseTag } from '../rules/git/tag-protection.ts';
import { readTagProtection } from './tag-pattern.ts';

const protections = (...rules: [pattern: string, users?: number[], teams?: number[]][]) =>
  rules.map(([name_pattern, user_ids = [], team_ids = []]) =>
    readTagProtection({ name_pattern, user_ids, team_ids }),
  );
const pusher = { userId: 1, teamIds: [7], mayWrite: true };

it.each([
  ['nothing is protected', [], 'v1', true],
  ['another name is', protections(['w*']), 'v1', true],
  ['nobody is listed', protections(['v*']), 'v1', false],
  ['somebody else is listed', protections(['v*', [2], [8]]), 'v1', false],
  ['he is listed', protections(['v*', [2, 1]]), 'v1', true],
  ['his team is listed', protections(['v*', [2], [7]]), 'v1', true],
  ['one of two lists him, the narrower', protections(['v*', [2]], ['v1*', [1]]), 'v1.0', true],
  ['one of two lists him, the wider', protections(['v1*', [2]], ['*', [1]]), 'v1.0', true],
  ['neither of two lists him', protections(['v*', [2]], ['v1*']), 'v1.0', false],
  ['only one that does not fit lists him', protections(['v*', [2]], ['v2*', [1]]), 'v1.0', false],
  ['an expression fits', protections(['/^v\\d/']), 'v1', false],
  ['the pattern cannot be read', protections(['/v(?=1)/']), 'anything', false],
])('where %s', (_case, rules, tag, may) => {
  expect(refuseTag(rules, tag, pusher)).toBe(may ? undefined : `Tag ${tag} is protected`);
});

it('as many tags as are pushed with a history are not too many, and as many as take seconds are', () => {
  const tags = (count: number, length: number) => Array.from({ length: count }, () => 'v'.repeat(length));
  const slow = protections(...Array.from({ length: 50 }, (): [string] => [`/${'a?'.repeat(120)}b/`]));
  expect(areTooMany(protections(['v*'], ['*-rc']), tags(50_000, 10))).toBe(false);
  expect(areTooMany(slow, tags(50, 20))).toBe(false);
  expect(areTooMany(slow, tags(500, 200))).toBe(true);
  expect(areTooMany(slow, tags(1, 255))).toBe(false);
  expect(areTooMany([], tags(100_000, 200))).toBe(false);
});
