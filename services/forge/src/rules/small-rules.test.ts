import { describe, expect, it } from 'vitest';
import { chooseDefaultBranch } from './git/default-branch.ts';
import { readProtocol } from './git/git-protocol.ts';
import { countForLink, readKeyword, readKind, readState } from './issues/list-filter.ts';
import { decideBranchDeletion } from './pulls/branch-deletion.ts';
import { decideDiffFormat } from './pulls/diff-format.ts';
import { readHead } from './pulls/head-ref.ts';
import { foldKeys } from './requests/fold-keys.ts';
import { readIndex } from './requests/read-id.ts';

describe('merge rule 9: deleting the head branch', () => {
  it.each([
    [{ isDefault: false, isProtected: false, exists: true, usedByOthers: false }, 'delete'],
    [{ isDefault: false, isProtected: true, exists: true, usedByOthers: true }, 'keep'],
    [{ isDefault: true, isProtected: false, exists: true, usedByOthers: true }, 'keep'],
  ])('%j: %s', (branch, decision) => {
    expect(decideBranchDeletion(branch)).toBe(decision);
  });
  it.each([
    [{ isDefault: true, isProtected: false, exists: true, usedByOthers: false }, 'forbidden'],
    [{ isDefault: false, isProtected: true, exists: true, usedByOthers: false }, 'forbidden'],
    [{ isDefault: false, isProtected: false, exists: false, usedByOthers: false }, 'not-found'],
  ])('%j is refused: %s', (branch, kind) => {
    expect(() => decideBranchDeletion(branch)).toThrow(expect.objectContaining({ kind }));
  });
});

it.each([
  [['main', 'x'], 'main', 'main'],
  [['x', 'main'], 'trunk', 'main'],
  [['master', 'a'], 'trunk', 'master'],
  [['b', 'c'], 'main', 'b'],
  [[], 'main', undefined],
])('default branch of %j, intended %s: %s', (pushed, intended, chosen) => {
  expect(chooseDefaultBranch(pushed, intended)).toBe(chosen);
});

it.each([
  ['diff', undefined, 'diff'],
  ['diff', 'true', 'binary-diff'],
  ['diff', '1', 'binary-diff'],
  ['diff', 'false', 'diff'],
  ['patch', undefined, 'patch'],
  ['patch', 'false', 'patch'],
] as const)('format of .%s with binary=%s: %s', (suffix, binary, format) => {
  expect(decideDiffFormat(suffix, binary)).toBe(format);
});

describe('keys of bodies (decisions §5.9)', () => {
  it.each([
    [{ Do: 1 }, { do: 1 }],
    [{ MergeTitleField: 1 }, { merge_title_field: 1 }],
    [{ HEAD_COMMIT_ID: 1 }, { head_commit_id: 1 }],
    [
      { Deadline: 1, RemoveDeadline: 2 },
      { due_date: 1, unset_due_date: 2 },
    ],
    [{ do: 1, DO: 2 }, { do: 2 }],
    [{ unknown: 1, constructor: 2, toString: 3 }, {}],
  ])('%j is read as %j', (given, read) => {
    const known = ['do', 'merge_title_field', 'head_commit_id', 'due_date', 'unset_due_date'];
    expect(foldKeys(given, known)).toEqual(read);
  });
});

it.each([
  ['git-upload-pack', 'version=2', 'version=2'],
  ['git-upload-pack', 'version=1', 'version=1'],
  ['git-upload-pack', 'version=2:key=value', 'version=2:key=value'],
  ['git-receive-pack', 'version=2', undefined],
  ['git-receive-pack', 'version=1', 'version=1'],
  ['git-upload-pack', undefined, undefined],
  ['git-upload-pack', 'version=3', undefined],
  ['git-upload-pack', 'version=2:$(id)', undefined],
  ['git-upload-pack', `version=2:${'x'.repeat(100)}`, undefined],
] as const)('protocol of %s asked for as %s: %s', (service, header, protocol) => {
  expect(readProtocol(service, header)).toBe(protocol);
});

describe('head of a new pull request (create rules 1 and 2)', () => {
  it.each([
    ['x', { user: undefined, branch: 'x' }],
    ['ada:x', { user: 'ada', branch: 'x' }],
    ['ada:', { user: 'ada', branch: '' }],
    ['feature/x', { user: undefined, branch: 'feature/x' }],
  ])('%s', (head, expected) => {
    expect(readHead(head, 'main')).toEqual(expected);
  });
  it('is refused when it is the base, and with more than two parts', () => {
    expect(() => readHead('main', 'main')).toThrow(expect.objectContaining({ kind: 'unprocessable' }));
    expect(() => readHead('a:b:c', 'main')).toThrow(expect.objectContaining({ kind: 'not-found' }));
  });
});

describe('filters of lists', () => {
  it('read what they know and fall back for the rest', () => {
    expect(['open', 'closed', 'all', 'x', undefined].map(readState)).toEqual([
      'open',
      'closed',
      'all',
      'open',
      'open',
    ]);
    expect(['issues', 'pulls', 'x', undefined].map(readKind)).toEqual(['issues', 'pulls', 'all', 'all']);
    expect([' a b ', 'a\0b', undefined].map(readKeyword)).toEqual(['a b', '', '']);
    const long = ['🚀'.repeat(200), 'a '.repeat(10), `\0${'a'.repeat(201)}`];
    expect(long.map(readKeyword)).toEqual(['🚀'.repeat(200), 'a '.repeat(10).trim(), '']);
    for (const refused of ['🚀'.repeat(201), 'a '.repeat(11), 'a,'.repeat(11)])
      expect(() => readKeyword(refused)).toThrow(/^\[Q\]: Max/);
    expect(['12', '0', '-1', 'x', '1e3', '99999999999'].map(readIndex)).toEqual([12, 0, 0, 0, 0, 0]);
  });
  it('Link counts issues by the counters of the repository', () => {
    const repository = { issues: 10, closed_issues: 3 };
    expect((['open', 'closed', 'all'] as const).map((state) => countForLink(state, repository))).toEqual([
      7, 3, 10,
    ]);
  });
});
