import { expect, it } from 'vitest';
import { adoptedName } from './adopted-name.ts';

const ID = '0123abcd-0000-4000-8000-000000000000';

it.each([
  ['before-upgrade', [], 'before-upgrade'],
  ['autozsys_q1w2e3', [], 'autozsys_q1w2e3'],
  ['taken', ['taken'], 'zsys_taken'],
  ['taken', ['taken', 'zsys_taken'], 'zsys_0123abcd'],
  // Nobody may type these here.
  ['auto_x1y2z3', [], 'zsys_auto_x1y2z3'],
  ['.hidden', [], 'zsys_.hidden'],
  ['x'.repeat(101), [], 'zsys_0123abcd'],
])('a state that is called %s, where %j are taken, becomes %s', (given, taken, name) => {
  expect(adoptedName(given, ID, new Set(taken))).toBe(name);
});
