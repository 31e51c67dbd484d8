import { expect, test } from 'vitest';
import { checkTeamTexts } from './team-name.ts';

test.each(['crew', 'Build-Crew_2.0', 'x'.repeat(30)])('a team can be called %s', (name) => {
  expect(() => checkTeamTexts({ name, description: '' })).not.toThrow();
});

test.each([
  ['', '[Name]: AlphaDashDot'],
  ['a b', '[Name]: AlphaDashDot'],
  ['a/b', '[Name]: AlphaDashDot'],
  ['a\n', '[Name]: AlphaDashDot'],
  ['x'.repeat(31), '[Name]: MaxSize(30)'],
  ['New', 'name is reserved [name: New]'],
  ['..', 'name is reserved [name: ..]'],
])('a team cannot be called %j', (name, message) => {
  expect(() => checkTeamTexts({ name, description: '' })).toThrow(message);
});
