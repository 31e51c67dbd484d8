import { expect, it } from 'vitest';
import { NO_OPTIONS } from '../../protections/protection-json.ts';
import type { ProtectionOptions } from '../../protections/protection-options.ts';
import {
  checkInevitable,
  checkKept,
  checkProtection,
  mayForceMerge,
  passes,
  type Situation,
} from './requirements.ts';

const protect = (options: Partial<ProtectionOptions>) => ({
  rule_name: 'main',
  priority: 1,
  options: { ...NO_OPTIONS, ...options },
});
const ready: Situation = {
  approvals: 0,
  freshApprovals: 0,
  rejected: false,
  asked: false,
  waits: false,
  statuses: [],
  outdated: false,
};
const state = (context: string, said: string) => ({ context, state: said });

it.each([
  ['nothing is said', [], [], false],
  ['all there are succeed', [], [state('a', 'success'), state('b', 'skipped')], true],
  ['one of all fails', [], [state('a', 'success'), state('b', 'failure')], false],
  ['one warns', [], [state('a', 'warning')], false],
  ['the named one succeeds, another fails', ['a'], [state('a', 'success'), state('b', 'error')], true],
  ['one of two named ones is missing', ['a', 'b'], [state('a', 'success')], false],
  [
    'a pattern stands for several, of which one is pending',
    ['ci/*'],
    [state('ci/a', 'success'), state('ci/b', 'pending')],
    false,
  ],
  ['a star stands for slashes, too', ['ci*'], [state('ci/a/b', 'success')], true],
  ['a pattern stands for nothing', ['ci/*'], [state('lint', 'success')], false],
  ['a name has characters of patterns in it', ['ci [linux]'], [state('ci [linux]', 'success')], true],
  ['a pattern cannot be read', ['ci ['], [state('ci [', 'success')], true],
])('checks: %s', (_name, required, statuses, expected) => {
  expect(passes(required, statuses)).toBe(expected);
});

it.each<[string, Partial<ProtectionOptions> | undefined, Partial<Situation>, string | undefined]>([
  [
    'nothing protects',
    undefined,
    { rejected: true, outdated: true, statuses: [state('a', 'failure')] },
    undefined,
  ],
  ['checks are not enabled', { status_check_contexts: ['a'] }, {}, undefined],
  ['checks are', { enable_status_check: true }, {}, 'Not all required status checks successful'],
  ['too few approve', { required_approvals: 2 }, { approvals: 1 }, 'Does not have enough approvals'],
  ['enough approve', { required_approvals: 1 }, { approvals: 1 }, undefined],
  [
    'they saw another head',
    { required_approvals: 1, ignore_stale_approvals: true },
    { approvals: 1 },
    'Does not have enough approvals',
  ],
  [
    'and theirs are dismissed',
    { required_approvals: 1, dismiss_stale_approvals: true },
    { approvals: 1 },
    'Does not have enough approvals',
  ],
  [
    'they saw this one',
    { required_approvals: 1, ignore_stale_approvals: true },
    { approvals: 1, freshApprovals: 1 },
    undefined,
  ],
  [
    'somebody rejects',
    { block_on_rejected_reviews: true },
    { rejected: true },
    'There are requested changes',
  ],
  ['somebody rejects where that does not matter', {}, { rejected: true }, undefined],
  [
    'somebody is asked',
    { block_on_official_review_requests: true },
    { asked: true },
    'There are official review requests',
  ],
  [
    'the head is behind',
    { block_on_outdated_branch: true },
    { outdated: true },
    'The head branch is behind the base branch',
  ],
])('merge rule 3: %s', (_name, options, situation, message) => {
  const check = () => checkProtection(options && protect(options), { ...ready, ...situation });
  if (message === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ kind: 'not-allowed', message }));
});

it.each([
  ['one that is kept, in whatever case', 'x;S/**', ['a', 's/KEY', 's/other'], ['s/KEY']],
  ['none that is', 'x;S/**', ['a', 'y/x'], undefined],
  ['any where none is', ' ', ['a'], undefined],
])('merge rule 3: of the files that change %s', (_name, patterns, paths, kept) => {
  const check = () => checkKept(protect({ protected_file_patterns: patterns }), paths);
  const body = { protected_files: kept };
  if (kept === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ message: 'Changed protected files', body }));
});

it.each([
  ['nothing is said', [], false, undefined],
  ['a check is pending', [state('a', 'pending')], false, /status checks/],
  ['all succeeded', [state('a', 'success')], false, undefined],
  ['nothing is said yet of a head that came later', [], true, /status checks/],
  ['a check of one that came later is pending', [state('a', 'pending')], true, /status checks/],
  ['all of one that came later succeeded', [state('a', 'success')], true, undefined],
])('merge rule 7: by itself, without required checks, when %s', (_name, statuses, awaitsChecks, message) => {
  const check = () => checkProtection(undefined, { ...ready, statuses }, { awaitsChecks });
  if (message === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(message);
});

it.each([
  ['the required one succeeded', [state('ci', 'success'), state('lint', 'failure')], false, undefined],
  ['the required one is pending', [state('ci', 'pending'), state('lint', 'success')], false, /status checks/],
  ['others failed', [state('lint', 'failure')], false, undefined],
  ['nothing is said yet of a head that came later', [], true, /status checks/],
  ['others of one that came later spoke', [state('lint', 'failure')], true, undefined],
])('into a merge queue by itself when %s', (_name, statuses, awaitsChecks, message) => {
  const relieved = protect({ enable_status_check: false, status_check_contexts: ['c*'] });
  const check = () => checkProtection(relieved, { ...ready, statuses }, { awaitsChecks, counted: ['c*'] });
  if (message === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(message);
});

it('nobody merges past open dependencies, nor unsigned where commits are to be signed', () => {
  expect(() => checkInevitable(undefined, { waits: true }, false)).toThrow('open dependencies');
  const signed = protect({ require_signed_commits: true });
  expect(() => checkInevitable(signed, { waits: false }, false)).toThrow('signed commits only');
  expect(() => checkInevitable(signed, { waits: false }, true)).not.toThrow();
  expect(() => checkInevitable(protect({}), { waits: false }, false)).not.toThrow();
});

it.each([
  ['an administrator, nothing protected', undefined, true, true],
  ['a writer, nothing protected', undefined, false, false],
  ['an administrator', {}, true, true],
  ['an administrator who is held to it', { block_admin_merge_override: true }, true, false],
  ['a writer', {}, false, false],
  ['somebody listed', { enable_bypass_allowlist: true, bypass_allowlist_usernames: [7] }, false, true],
  ['somebody of a listed team', { enable_bypass_allowlist: true, bypass_allowlist_teams: [8] }, false, true],
  ['a list that is not in use', { bypass_allowlist_usernames: [7] }, false, false],
])('force merge: %s', (_name, options, isAdministrator, expected) => {
  const merger = { userId: 7, teamIds: [8], mayWrite: true };
  expect(mayForceMerge(options && protect(options), merger, isAdministrator)).toBe(expected);
});

it('checks with names made to be slow have not succeeded', () => {
  const statuses = Array.from({ length: 5000 }, (_, n) => ({
    context: `${'a'.repeat(245)}${n}`,
    state: 'success',
  }));
  const required = Array.from({ length: 100 }, (_, n) => `*${'a'.repeat(n)}*${'a'.repeat(120)}*`);
  const begin = performance.now();
  expect(passes(required, statuses)).toBe(false);
  expect(performance.now() - begin).toBeLessThan(10_000);
  expect(passes(['a*'], statuses)).toBe(true);
});
