import { expect, it } from 'vitest';
import { decidePair } from './data-folder.ts';

const neither = { inSchema: undefined, inFolder: undefined, hasRows: false, hasFolders: false };
const both = { hasRows: true, hasFolders: true };

it.each([
  ['a first start', {}, 'adopt'],
  ['an installation of an earlier version, or a restored one', both, 'adopt'],
  ['an earlier version with the wrong folder', { hasRows: true }, 'other folder'],
  ['an earlier version that has only leftovers', { hasFolders: true }, 'adopt'],
  ['every later start', { inSchema: 'a', inFolder: 'a', ...both }, 'paired'],
  ['a pair that lost its repositories', { inSchema: 'a', inFolder: 'a', hasRows: true }, 'paired'],
  ['another folder', { inSchema: 'a', inFolder: 'b', ...both }, 'other folder'],
  ['a new folder', { inSchema: 'a', hasRows: true }, 'other folder'],
  ['a new folder, before there are repositories', { inSchema: 'a' }, 'other folder'],
  ['a folder whose schema was not marked before a crash', { inFolder: 'a' }, 'adopt'],
  ['a dump without comments, or a restore where a forge was', { inFolder: 'a', ...both }, 'adopt'],
  ['a folder that somebody says is the right one', { inFolder: 'a', hasRows: true }, 'adopt'],
  ['a new schema', { inFolder: 'a', hasFolders: true }, 'other schema'],
])('%s', (_what, pair, decision) => {
  expect(decidePair({ ...neither, ...pair })).toBe(decision);
});
