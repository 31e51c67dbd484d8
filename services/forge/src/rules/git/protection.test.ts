import { describe, expect, it } from 'vitest';
import { NO_OPTIONS } from '../../protections/protection-json.ts';
import type { ProtectionOptions } from '../../protections/protection-options.ts';
import { dependsOnFiles, findProtection, mayMergeInto, type PushKind, refusePush } from './protection.ts';

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
