import { describe, expect, it } from 'vitest';
import { attachmentName } from '../files/attachment-name.ts';
import { languageOf } from '../files/languages.ts';
import { isLicenseFile, licenseOf } from '../files/licenses.ts';
import { submoduleAddresses } from '../files/submodules.ts';
import { readTreePath } from '../files/tree-path.ts';
import { combineStates } from './combined-status.ts';
import { splitComparison, splitHead } from './comparison.ts';
import { guessRevision } from './revision.ts';

describe('what a revision may mean', () => {
  it.each([
    ['main', ['refs/heads/main', 'refs/tags/main'], undefined],
    ['feature/x', ['refs/heads/feature/x', 'refs/tags/feature/x'], undefined],
    ['abc123', ['refs/heads/abc123', 'refs/tags/abc123'], undefined],
    ['abc1234', ['refs/heads/abc1234', 'refs/tags/abc1234'], 'abc1234'],
    ['ABC1234', ['refs/heads/ABC1234', 'refs/tags/ABC1234'], 'abc1234'],
    ['a'.repeat(40), [], 'a'.repeat(40)],
    ['refs/heads/main', ['refs/heads/main'], undefined],
    ['refs/tags/v1', ['refs/tags/v1'], undefined],
    ['heads/main', ['refs/heads/heads/main', 'refs/tags/heads/main', 'refs/heads/main'], undefined],
    ['refs/pull/3/head', ['refs/pull/3/head'], undefined],
    ['refs/pull/03/head', [], undefined],
    ['refs/pull/3/merge', [], undefined],
    ['refs/notes/commits', [], undefined],
    ['refs/heads/refs/heads/x', [], undefined],
    ['abc', ['refs/heads/abc', 'refs/tags/abc'], undefined],
    ['', [], undefined],
    ['..', [], undefined],
    ['-x', [], undefined],
    ['@', [], undefined],
    ['HEAD', [], undefined],
    ['refs/heads/HEAD', [], undefined],
    ['@{-1}', [], undefined],
    [':/text', [], undefined],
    ['HEAD~1^{/x}', [], undefined],
    ['a:b', [], undefined],
    ['a\nb', [], undefined],
    ['a\0b', [], undefined],
    ['x'.repeat(10_000), [], undefined],
  ])('%j', (text, refs, id) => {
    const guess = guessRevision(text);
    expect(guess.refs.map(({ ref }) => ref)).toEqual(refs);
    expect(guess.id).toBe(id);
  });
});

describe('paths in a tree', () => {
  it.each([
    ['', ''],
    ['/', ''],
    ['a/b', 'a/b'],
    ['//a/b/', 'a/b'],
    ['a//b', undefined],
    ['.', undefined],
    ['a/../b', undefined],
    ['a/./b', undefined],
    ['a\0', undefined],
    ['a/'.repeat(3000), undefined],
    ['-x', '-x'],
    ['...', '...'],
  ])('%j', (text, path) => {
    expect(readTreePath(text)).toBe(path);
  });

  it('are read in no time, however many slashes there are', () => {
    const begin = performance.now();
    expect(readTreePath(`a${'/'.repeat(1_000_000)}a`)).toBeUndefined();
    expect(performance.now() - begin).toBeLessThan(1000);
  });
});

it('comparisons have two names', () => {
  expect(splitComparison('a...b')).toEqual(['a', 'b']);
  expect(splitComparison('a..b')).toEqual(['a', 'b']);
  expect(splitComparison('v1.0...v2.0')).toEqual(['v1.0', 'v2.0']);
  expect(splitComparison('...b')).toEqual(['', 'b']);
  expect(splitComparison('a.b')).toEqual(['', 'a.b']);
  for (const text of ['', '...', 'a...b...c']) expect(splitComparison(text)).toBe(undefined);
});

it('the head of a comparison may be somewhere else', () => {
  expect(splitHead('main')).toEqual({ name: 'main' });
  expect(splitHead('ada:feature/x')).toEqual({ owner: 'ada', name: 'feature/x' });
  expect(splitHead('ada/garden:main')).toEqual({ owner: 'ada', repo: 'garden', name: 'main' });
  expect(splitHead(':main')).toEqual({ owner: '', name: 'main' });
  expect(splitHead('ada:')).toEqual({ owner: 'ada', name: '' });
});

it('one that went wrong counts, and then one that is still to come', () => {
  expect(combineStates([])).toBe('pending');
  expect(combineStates(['success', 'skipped'])).toBe('success');
  expect(combineStates(['success', 'pending'])).toBe('pending');
  expect(combineStates(['warning', 'pending'])).toBe('pending');
  expect(combineStates(['warning', 'success'])).toBe('success');
  expect(combineStates(['failure', 'pending'])).toBe('failure');
  expect(combineStates(['success', 'error'])).toBe('failure');
  expect(combineStates(['skipped'])).toBe('success');
});

it('languages are told by endings and names', () => {
  expect(languageOf('a/b.TS')).toBe('TypeScript');
  expect(languageOf('Makefile')).toBe('Makefile');
  for (const path of ['README.md', 'ts', 'vendor/a.go', 'x/node_modules/y/a.js', 'a.min.js', 'a.__proto__'])
    expect(languageOf(path)).toBe(undefined);
});

it('licenses are told by their words', () => {
  expect(['LICENSE', 'licence.md', 'COPYING', 'UNLICENSE', 'LICENSE-MIT'].every(isLicenseFile)).toBe(true);
  expect(['licensed', 'src', 'NOTICE', 'copy'].some(isLicenseFile)).toBe(false);
  expect(licenseOf('                  Apache License\n            Version 2.0, January 2004')).toBe(
    'Apache-2.0',
  );
  expect(licenseOf('GNU GENERAL PUBLIC LICENSE\n  Version 3, 29 June 2007')).toBe('GPL-3.0');
  expect(licenseOf('GNU AFFERO GENERAL PUBLIC LICENSE\n  Version 3, 19 November 2007')).toBe('AGPL-3.0');
  expect(licenseOf('Redistribution and use in source and\nbinary forms, with or without')).toBe(
    'BSD-2-Clause',
  );
  expect(licenseOf('All rights reserved.')).toBe(undefined);
  expect(licenseOf('redistribution and use in source and binary forms '.repeat(5000))).toBe('BSD-2-Clause');
});

it('submodules are found by their paths', () => {
  const text = '[core]\n\tpath = a\n\turl = no\n[submodule "x"]\n\tpath = a\n\turl = "https://x.test/a"\n';
  expect(submoduleAddresses(text).get('a')).toBe('https://x.test/a');
  expect(submoduleAddresses(text).get('b')).toBe(undefined);
  expect(submoduleAddresses('').get('a')).toBe(undefined);
});

it('submodules with a long path are read in no time', () => {
  const path = `a${' '.repeat(64 * 1024)}b`;
  const begin = performance.now();
  expect([...submoduleAddresses(`[submodule "x"]\n\tpath = ${path}\n`).keys()]).toEqual([path]);
  expect(performance.now() - begin).toBeLessThan(1000);
});

it('names of files cannot leave their header', () => {
  expect(attachmentName('a b.txt')).toBe('filename="a b.txt"; filename*=UTF-8\'\'a%20b.txt');
  expect(attachmentName('a"\r\nx: y\\é')).toBe(
    'filename="a___x: y__"; filename*=UTF-8\'\'a%22%0D%0Ax%3A%20y%5C%C3%A9',
  );
  expect(attachmentName('\ud800')).toContain('%EF%BF%BD');
});
