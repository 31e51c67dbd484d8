import { describe, expect, it } from 'vitest';
import { NO_OPTIONS } from '../../protections/protection-json.ts';
import type { ProtectionOptions } from '../../protections/protection-options.ts';
import {
  dependsOnFiles,
  findKept,
  findProtection,
  mayMergeInto,
  type PushKind,
  refusePush,
} from './protection.ts';

const rule = (name: string, options: Partial<ProtectionOptions> = {}, priority = 1) => ({
  rule_name: name,
  priority,
  options: { ...NO_OPTIONS, ...options },
});
const writer = { userId: 7, teamIds: [3], mayWrite: true };
const reader = { ...writer, mayWrite: false };

it.each([
  ['main', [rule('main')], 'main'],
  ['main', [rule('*'), rule('main')], 'main'],
  ['main', [rule('*', {}, 1), rule('main', {}, 2)], '*'],
  ['release/1', [rule('release'), rule('release/*')], 'release/*'],
  ['release/1/2', [rule('release/*')], undefined],
  ['x', [], undefined],
])('for %s holds …', (branch, rules, expected) => {
  expect(findProtection(rules, branch)?.rule_name).toBe(expected);
});

const PUSH = { enable_push: true };
const FORCE = { ...PUSH, enable_force_push: true };
const KINDS: PushKind[] = ['create', 'fast-forward', 'force', 'delete'];
const NO = 'Not allowed to push to protected branch main';
const NO_FORCE = 'branch main is protected from force push';
const NO_DELETION = 'branch main is protected from deletion';
const yes = undefined;

describe('create, fast-forward, force, delete', () => {
  it.each([
    ['without a protection', undefined, [yes, yes, yes, yes]],
    ['with an empty one', {}, [NO, NO, NO_FORCE, NO_DELETION]],
    ['where pushing is on', PUSH, [yes, yes, NO_FORCE, NO_DELETION]],
    ['where nobody is listed', { ...PUSH, enable_push_whitelist: true }, [NO, NO, NO_FORCE, NO_DELETION]],
    [
      'where he is listed',
      { ...PUSH, enable_push_whitelist: true, push_whitelist_usernames: [7] },
      [yes, yes, NO_FORCE, NO_DELETION],
    ],
    [
      'where his team is',
      { ...PUSH, enable_push_whitelist: true, push_whitelist_teams: [3] },
      [yes, yes, NO_FORCE, NO_DELETION],
    ],
    ['where overwriting is on', FORCE, [yes, yes, yes, NO_DELETION]],
    [
      'where overwriting is for others',
      { ...FORCE, enable_force_push_allowlist: true, force_push_allowlist_usernames: [8] },
      [yes, yes, NO_FORCE, NO_DELETION],
    ],
    [
      'where he may overwrite but not push',
      {
        ...FORCE,
        enable_push_whitelist: true,
        enable_force_push_allowlist: true,
        force_push_allowlist_usernames: [7],
      },
      [NO, NO, NO_FORCE, NO_DELETION],
    ],
  ] as const)('%s', (_what, options, expected) => {
    const protection = options && rule('main', options);
    expect(KINDS.map((kind) => refusePush(protection, 'main', { kind, pusher: writer }))).toEqual(expected);
    for (const kind of KINDS)
      expect(refusePush(protection, 'main', { kind, pusher: reader })).toContain('permission to write');
  });
});

it.each([
  [PUSH, ['a.md'], yes],
  [{ ...PUSH, protected_file_patterns: '*.lock;Docs/**' }, ['a.md', 'yarn.lock'], 'yarn.lock'],
  [{ ...PUSH, protected_file_patterns: '*.lock;Docs/**' }, ['docs/a/b.md'], 'docs/a/b.md'],
  [{ ...PUSH, protected_file_patterns: '*.lock' }, ['sub/yarn.lock'], yes],
  [{ unprotected_file_patterns: '**.md' }, ['a.md', 'b/c.md'], yes],
  [{ unprotected_file_patterns: '**.md' }, ['a.md', 'b.ts'], 'Not allowed'],
  [{ unprotected_file_patterns: '**.md' }, [], 'Not allowed'],
])('%j with %j', (options, paths, refusal) => {
  const push = { kind: 'fast-forward', pusher: writer, paths } as const;
  const refused = refusePush(rule('main', options), 'main', push);
  if (refusal === undefined) expect(refused).toBeUndefined();
  else expect(refused).toContain(refusal);
  expect(dependsOnFiles(rule('main', options))).toBe(
    !('enable_push' in options) || 'protected_file_patterns' in options,
  );
});

it.each([
  [undefined, writer, true],
  [undefined, reader, false],
  [{}, writer, true],
  [{ enable_merge_whitelist: true }, writer, false],
  [{ enable_merge_whitelist: true, merge_whitelist_usernames: [7] }, writer, true],
  [{ enable_merge_whitelist: true, merge_whitelist_teams: [3] }, writer, true],
  [{ enable_merge_whitelist: true, merge_whitelist_usernames: [7] }, reader, false],
])('merging with %j', (options, merger, expected) => {
  expect(mayMergeInto(options && rule('main', options), merger)).toBe(expected);
});

describe('patterns made to be slow', () => {
  const slow = `${'*a'.repeat(110)}b`;
  const files = '*a'.repeat(2000);
  const paths = Array.from({ length: 3000 }, (_, n) => `${'a'.repeat(4000)}${n}`);

  it('take a moment for any number of branches, and what there is no time for is protected', () => {
    const rules = [rule(`{,c}{,c}{,c}{,c}${slow}`), rule('kept')];
    const work = { left: 1_000_000 };
    const begin = performance.now();
    const found = Array.from({ length: 10_000 }, () => findProtection(rules, 'a'.repeat(240), work));
    expect(performance.now() - begin).toBeLessThan(3000);
    expect(found.at(-1)).toBe(rules[0]);
    expect(findProtection(rules, 'kept', { left: 1_000_000 })).toBe(rules[1]);
    expect(findProtection([rule(slow)], 'a'.repeat(240))).toBeUndefined();
  });

  it('take some seconds for any number of files, and what there is no time for may not be changed', () => {
    const begin = performance.now();
    expect(findKept(rule('main', { protected_file_patterns: files }), paths)).toMatch(/^a+\d+$/);
    const classes = rule('main', { protected_file_patterns: `**[${'b-'.repeat(1900)}]` });
    expect(findKept(classes, paths)).toMatch(/^a+\d+$/);
    const push = { kind: 'fast-forward', pusher: writer, paths } as const;
    expect(refusePush(rule('main', { unprotected_file_patterns: files }), 'main', push)).toBe(NO);
    expect(performance.now() - begin).toBeLessThan(60_000);
  });

  it('are not those that people write, for a hundred thousand files', () => {
    const written = '*.lock;infra/**;.github/**;**/secrets/*;package.json;{docs,notes}/private/**';
    const many = Array.from({ length: 100_000 }, (_, n) => `packages/some-package-${n}/src/folder/a-file.ts`);
    expect(findKept(rule('main', { protected_file_patterns: written }), many)).toBeUndefined();
    expect(findKept(rule('main', { protected_file_patterns: written }), [...many, 'a/secrets/b'])).toBe(
      'a/secrets/b',
    );
  });
});
