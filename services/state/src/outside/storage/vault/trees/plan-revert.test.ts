import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../../model/entry.ts';
import { planRevert } from './plan-revert.ts';

describe('planRevert', () => {
  const entry = (path: string, more: Partial<Entry> = {}): Entry => ({
    path,
    type: 'file',
    mode: '644',
    uid: 0,
    gid: 0,
    mtimeNs: '1000000000',
    hash: 'a'.repeat(64),
    ...more,
  });
  const folder = (path: string, more: Partial<Entry> = {}) => entry(path, { type: 'folder', ...more });
  const root = folder('.');
  const unsaved = (path: string, unreadable: string): Entry => {
    const { hash: _hash, ...rest } = entry(path, { unreadable });
    return rest;
  };

  it('leaves what was unreadable as it is, and says so', () => {
    const wanted = [root, entry('a', { unreadable: 'EACCES' }), entry('b', { unreadable: 'EACCES' })];
    expect(planRevert([root, entry('a')], wanted)).toEqual({
      steps: [],
      problems: ['a stays as it is: it was unreadable (EACCES)', 'b is missing: it was unreadable (EACCES)'],
    });
  });

  it('leaves what is in a folder that could not be read', () => {
    const wanted = [root, folder('a', { unreadable: 'EACCES' })];
    const { steps } = planRevert([root, folder('a'), entry('a/x'), folder('a/y'), entry('a/y/z')], wanted);
    expect(steps).toEqual([]);
  });

  it('removes no folder with another file system, or the states, in it', () => {
    const present = [root, folder('a'), folder('a/b', { leftOut: 'mount' }), entry('a/c')];
    const { steps, problems } = planRevert(present, [root]);
    expect(steps).toEqual([{ do: 'remove', path: 'a/c', folder: false }]);
    expect(problems).toEqual([
      'a stays: another file system, the states, or what cannot be read, are in it',
      'a/b stays: another file system, the states, or what cannot be read, are in it',
    ]);
  });

  it.each<[string, Partial<Entry>, string]>([
    ['another file system', { leftOut: 'mount' }, 'it is another file system now'],
    ['where the states are', { leftOut: 'storage' }, 'the states are kept there'],
    ['not to be read', { unreadable: 'EIO' }, 'it could not be saved (EIO)'],
  ])('writes nothing into a folder that is %s now', (_what, more, why) => {
    const wanted = [root, folder('a'), entry('a/x'), folder('a/y'), entry('a/y/z'), entry('b')];
    expect(planRevert([root, folder('a', { ...more, mode: '700' })], wanted)).toEqual({
      steps: [
        { do: 'file', entry: entry('b') },
        { do: 'facts', entry: root },
      ],
      problems: [`a stays as it is, with what is in it: ${why}`],
    });
  });

  it.each<[string, readonly Entry[]]>([
    ['was not there', []],
    ['was another one', [entry('vm')]],
    ['was a link', [entry('vm', { type: 'link', target: 'b' })]],
    ['was a folder', [folder('vm'), entry('vm/x'), folder('vm/y'), entry('vm/y/z')]],
  ])('keeps a file that nobody could save now and that %s', (_what, then) => {
    for (const present of [unsaved('vm', 'EFBIG'), entry('vm', { type: 'link', unreadable: 'EIO' })])
      expect(planRevert([root, present], [root, ...then])).toEqual({
        steps: [],
        problems: [`vm stays as it is: it could not be saved (${present.unreadable})`],
      });
  });

  it('keeps the folders of a file that nobody could save now, and nothing else in them', () => {
    const present = [root, folder('a'), folder('a/b'), unsaved('a/b/vm', 'EIO'), entry('a/c')];
    const stays = 'stays: another file system, the states, or what cannot be read, are in it';
    expect(planRevert(present, [root, entry('a', { type: 'link', target: 'b' })])).toEqual({
      steps: [{ do: 'remove', path: 'a/c', folder: false }],
      problems: [`a ${stays}`, `a/b ${stays}`, 'a/b/vm stays as it is: it could not be saved (EIO)'],
    });
  });

  it('makes a file again that was gone when it was to be saved', () => {
    const present = [root, unsaved('a', 'ENOENT'), unsaved('b', 'ENOENT')];
    expect(planRevert(present, [root, entry('a')])).toEqual({
      steps: [
        { do: 'remove', path: 'b', folder: false },
        { do: 'file', entry: entry('a') },
        { do: 'facts', entry: root },
      ],
      problems: [],
    });
  });

  it('makes a folder again that was gone when it was to be saved, whatever was seen in it before', () => {
    const present = [
      root,
      folder('a', { unreadable: 'ENOENT' }),
      entry('a/x'),
      folder('a/y'),
      entry('a/y/z'),
    ];
    const [a, x] = [folder('a'), entry('a/x')];
    expect(planRevert(present, [root, a, x])).toEqual({
      steps: [
        { do: 'folder', entry: a },
        { do: 'file', entry: x },
        { do: 'facts', entry: a },
        { do: 'facts', entry: root },
      ],
      problems: [],
    });
    expect(planRevert(present, [root])).toEqual({ steps: [], problems: [] });
  });

  it('gives what is mounted no owner and no mode, whatever was mounted there then', () => {
    const mount = folder('a', { leftOut: 'mount' });
    const other = folder('a', { leftOut: 'mount', mode: '700', uid: 7 });
    expect(planRevert([root, other], [root, mount])).toEqual({ steps: [], problems: [] });
    expect(planRevert([root, folder('a', { mode: '700' })], [root, mount])).toEqual({
      steps: [],
      problems: [],
    });
  });

  it('puts no file in the place of a folder that has to stay', () => {
    const present = [root, folder('a'), folder('a/b', { leftOut: 'mount' })];
    expect(planRevert(present, [root, entry('a', { type: 'link', target: 'b' })]).steps).toEqual([]);
  });

  it('takes a file away where a folder was with something in it that could not be read', () => {
    const wanted = [root, folder('a'), folder('a/b', { leftOut: 'mount' })];
    expect(planRevert([root, entry('a')], wanted)).toEqual({
      steps: [
        { do: 'remove', path: 'a', folder: false },
        { do: 'folder', entry: folder('a') },
        { do: 'facts', entry: folder('a') },
        { do: 'facts', entry: root },
      ],
      problems: ['a/b is missing: it was another file system'],
    });
  });

  it('leaves sockets, pipes and devices that are there alone, whoever they belong to now', () => {
    const socket = entry('agent', { type: 'socket' });
    expect(planRevert([root, { ...socket, uid: 7, mtimeNs: '5' }], [root, socket])).toEqual({
      steps: [],
      problems: [],
    });
  });

  it('makes no device, and keeps one that is there', () => {
    const device = entry('null', { type: 'char', rdev: '259' });
    expect(planRevert([root], [root, device]).problems).toEqual([
      'null is missing: a char is not made again',
    ]);
    expect(planRevert([root, device], [root, device])).toEqual({ steps: [], problems: [] });
  });
});
