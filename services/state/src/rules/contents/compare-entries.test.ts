import { describe, expect, it } from 'vitest';
import type { Entry } from '../../model/entry.ts';
import { compareContent, compareEntries } from './compare-entries.ts';

const file: Entry = {
  path: 'f',
  type: 'file',
  mode: '644',
  uid: 1,
  gid: 1,
  mtimeNs: '1000000000000000001',
  size: 3,
};
const folder: Entry = { path: 'f', type: 'folder', mode: '755', uid: 1, gid: 1, mtimeNs: '1' };
const link: Entry = { path: 'f', type: 'link', mode: '777', uid: 1, gid: 1, mtimeNs: '1', target: 'a' };

describe('compareContent', () => {
  it.each<[string, Entry, Entry, string]>([
    ['equal hashes', { ...file, hash: 'a' }, { ...file, hash: 'a', mtimeNs: '2' }, 'same'],
    ['other hashes of one size and time', { ...file, hash: 'a' }, { ...file, hash: 'b' }, 'changed'],
    ['another size', { ...file, hash: 'a' }, { ...file, size: 4 }, 'changed'],
    ['one size and time, one of them not read', { ...file, hash: 'a' }, file, 'same'],
    ['one size and a time of a nanosecond later', file, { ...file, mtimeNs: '1000000000000000002' }, 'read'],
    ['one that could not be read', { ...file, unreadable: 'EACCES' }, { ...file, mtimeNs: '2' }, 'unknown'],
    ['folders', folder, { ...folder, mtimeNs: '2' }, 'same'],
    ['a folder that could not be read', folder, { ...folder, unreadable: 'EACCES' }, 'unknown'],
    [
      'a folder that was left out of both',
      { ...folder, leftOut: 'mount' },
      { ...folder, leftOut: 'mount' },
      'same',
    ],
    ['links', link, { ...link, target: 'b' }, 'same'],
    ['devices', { ...link, type: 'char', rdev: '1' }, { ...link, type: 'char', rdev: '2' }, 'changed'],
  ])('of %s', (_what, one, other, expected) => {
    expect(compareContent(one, other)).toBe(expected);
  });
});

describe('compareEntries', () => {
  const PLAIN = { times: false, attributes: false };
  const NONE = {
    content: false,
    unknown: false,
    mode: false,
    owner: false,
    target: false,
    time: false,
    attributes: false,
  };

  it.each<[string, Entry, Entry, Partial<typeof NONE>]>([
    ['mode', file, { ...file, mode: '600' }, { mode: true }],
    ['owner', file, { ...file, uid: 2 }, { owner: true }],
    ['group', file, { ...file, gid: 2 }, { owner: true }],
    ['target', link, { ...link, target: 'b' }, { target: true }],
  ])('tells %s', (_what, one, other, expected) => {
    expect(compareEntries(one, other, 'same', PLAIN)).toEqual({
      type: one.type,
      oldType: '',
      ...NONE,
      ...expected,
    });
  });

  it('tells times to the microsecond, and only when they count', () => {
    const later = { ...file, mtimeNs: '1000000000000001001' };
    expect(compareEntries(file, later, 'same', PLAIN)).toBeUndefined();
    expect(compareEntries(file, later, 'same', { ...PLAIN, times: true })).toMatchObject({ time: true });
    // Going back sets times no more exactly.
    expect(
      compareEntries(file, { ...file, mtimeNs: '1000000000000000999' }, 'same', { ...PLAIN, times: true }),
    ).toBeUndefined();
  });

  it('tells extended attributes where both sides had theirs read', () => {
    const marked = { ...file, attributes: { 'user.note': 'YQ==' } };
    expect(compareEntries(file, marked, 'same', PLAIN)).toBeUndefined();
    const counts = { ...PLAIN, attributes: true };
    expect(compareEntries(file, marked, 'same', counts)).toMatchObject({ attributes: true });
    expect(compareEntries(marked, { ...marked }, 'same', counts)).toBeUndefined();
  });

  it('tells another type, and not its content', () => {
    expect(compareEntries(file, link, 'unknown', PLAIN)).toEqual({
      ...NONE,
      type: 'link',
      oldType: 'file',
      mode: true,
    });
  });

  it.each([
    ['is mounted now', folder, 'unknown'],
    ['was mounted then, too', { ...folder, leftOut: 'mount' }, 'same'],
  ] as const)('compares no mode, owner or time with what %s', (_what, then, content) => {
    const mounted: Entry = { ...folder, mode: '700', uid: 0, mtimeNs: '0', leftOut: 'mount' };
    const found = compareEntries(then, mounted, content, { ...PLAIN, times: true });
    const unknown = { type: 'folder', oldType: '', ...NONE, unknown: true };
    expect(found).toEqual(content === 'same' ? undefined : unknown);
  });

  it('takes links of another mode for the same: theirs does not count', () => {
    expect(compareEntries(link, { ...link, mode: '700' }, 'same', { ...PLAIN, times: true })).toBeUndefined();
  });
});
