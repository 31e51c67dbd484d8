import { expect, it } from 'vitest';
import { spellPulls } from './spell-pulls.ts';

type Pulls = Parameters<typeof spellPulls>[0];

it('is the JSON of the list, with repositories that are the same, others, and none', () => {
  const repo = { id: 1, name: 'a "name"', owner: { login: 'ada' } };
  const fork = { ...repo, id: 2 };
  const pulls = [
    {
      number: 1,
      title: '"base":{}',
      additions: undefined,
      base: { ref: 'main', repo },
      head: { ref: 'x', repo },
    },
    { number: 2, title: '😀\n', base: { ref: 'main', repo }, head: { ref: 'y', repo: fork } },
    { number: 3, title: '', base: { ref: 'main', repo }, head: { ref: 'z', repo: null } },
  ];
  expect(JSON.parse(spellPulls(pulls as unknown as Pulls).toString())).toEqual(
    JSON.parse(JSON.stringify(pulls)),
  );
});

it('is the JSON of an empty list', () => {
  expect(spellPulls([]).toString()).toBe('[]');
});
