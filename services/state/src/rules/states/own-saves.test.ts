import { expect, it } from 'vitest';
import { aState } from '../../../test/models.ts';
import { hasAllOwnSaves, MAX_OWN_SAVES } from './own-saves.ts';

const many = (count: number, given: Parameters<typeof aState>[0]) =>
  Array.from({ length: count }, (_, at) => aState({ id: String(at), ...given }));

it.each([
  ['as many as there may be', many(MAX_OWN_SAVES, { user: 'ada' }), true],
  ['one less', many(MAX_OWN_SAVES - 1, { user: 'ada' }), false],
  ['those of another user', many(MAX_OWN_SAVES, { user: 'bob' }), false],
  ['those that were saved with the system', many(MAX_OWN_SAVES, { user: 'ada', system: 'whole' }), false],
  ['those of the system', many(MAX_OWN_SAVES, {}), false],
])('%s', (_what, states, isAll) => {
  expect(hasAllOwnSaves({ states }, 'ada')).toBe(isAll);
});
