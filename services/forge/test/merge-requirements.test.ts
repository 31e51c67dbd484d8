import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
const people: Record<string, Person> = {};
const at = '/repos/ada/strict';
let tree: string;
let bare: string;
beforeAll(async () => {
  for (const name of ['ada', 'bob', 'cleo', 'dave', 'eve']) {
    people[name] = scene.person(name);
    await people[name].call('GET', '/user');
  }
  tree = await pushedRepository(who('ada'), 'strict', scene.folder);
  bare = await scene.bare('ada', 'strict');
  for (const [name, permission] of [
    ['bob', 'write'],
    ['cleo', 'write'],
    ['dave', 'admin'],
    ['eve', 'read'],
  ])
    await done(who('ada').call('PUT', `${at}/collaborators/${name}`, { permission }), 204);
});

function who(name: string): Person {
  const person = people[name];
  if (person === undefined) throw new Error(`nobody is called ${name}`);
  return person;
}

async function done(answer: ReturnType<Person['call']>, status: number) {
  const reply = await answer;
  expect([reply.status, reply.text]).toEqual([status, reply.text]);
  return reply;
}

/** A base branch of its own for each test, protected by the options, and a pull request into it. */
async function open(base: string, files: Record<string, string>, options: object = {}): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await git(tree, 'push', '-q', 'origin', `origin/main:refs/heads/${base}`);
  const head = `${base}-head`;
  await pushBranch(tree, head, files, 'origin/main');
  const wanted = { head, base, title: base };
  const { body } = await done(who('bob').call('POST', `${at}/pulls`, wanted), 201);
  await done(
    who('ada').call('POST', `${at}/branch_protections`, { rule_name: base, enable_push: true, ...options }),
    201,
  );
  return body.number;
}

/** Refs, rows and objects: everything a refused merge must leave as it was. */
const stored = () =>
  Promise.all([
    git(bare, 'for-each-ref'),
    git(bare, 'count-objects', '-v'),
    rowsOf(scene, 'issues', 'pulls', 'comments', 'merges', 'scheduled_merges'),
  ]);

const merge = (name: string, number: number, body: object = {}) =>
  who(name).call('POST', `${at}/pulls/${number}/merge`, body);

async function refused(name: string, number: number, message: string, body: object = {}): Promise<void> {
  const before = await stored();
  const answer = await merge(name, number, body);
  expect([answer.status, answer.body.message]).toEqual([405, message]);
  expect(await stored()).toEqual(before);
}

const review = (name: string, number: number, event: string) =>
  done(who(name).call('POST', `${at}/pulls/${number}/reviews`, { event, body: 'words' }), 200);
const say = (sha: string, context: string, state: string) =>
  done(who('ada').call('POST', `${at}/statuses/${sha}`, { context, state }), 201);

it('requirements are asked for in their order, and force merges past them only for who may', async () => {
  const number = await open('ordered', { 'keep.txt': 'x' });
  const protection = {
    enable_status_check: true,
    status_check_contexts: ['ci/*'],
    required_approvals: 2,
    block_on_rejected_reviews: true,
    block_on_official_review_requests: true,
    block_on_outdated_branch: true,
    protected_file_patterns: 'keep.txt',
    block_admin_merge_override: true,
  };
  const change = (options: object) =>
    done(who('ada').call('PATCH', `${at}/branch_protections/ordered`, options), 200);
  await change(protection);
  const asked = { reviewers: ['dave'] };
  await done(who('bob').call('POST', `${at}/pulls/${number}/requested_reviewers`, asked), 201);
  await git(tree, 'checkout', '-q', '-B', 'ordered', 'origin/main');
  await commit(tree, { 'other.txt': 'x' }, 'base moves');
  await git(tree, 'push', '-q', 'origin', 'ordered');

  await refused('bob', number, 'Not all required status checks successful');
  await say('ordered-head', 'ci/build', 'success');
  await say('ordered-head', 'ci/test', 'failure');
  await say('ordered-head', 'other', 'failure');
  await refused('bob', number, 'Not all required status checks successful');
  await say('ordered-head', 'ci/test', 'success');
  await refused('bob', number, 'Does not have enough approvals');
  // Who may only read approves nothing officially.
  await review('eve', number, 'APPROVED');
  await review('ada', number, 'APPROVED');
  await refused('bob', number, 'Does not have enough approvals');
  await review('cleo', number, 'REQUEST_CHANGES');
  await change({ required_approvals: 1 });
  await refused('bob', number, 'There are requested changes');
  await review('cleo', number, 'APPROVED');
  await change({ required_approvals: 2 });
  await refused('bob', number, 'There are official review requests');
  await done(who('bob').call('DELETE', `${at}/pulls/${number}/requested_reviewers`, asked), 204);
  await refused('bob', number, 'The head branch is behind the base branch');
  await change({ block_on_outdated_branch: false });
  await refused('bob', number, 'Changed protected files');
  // It says of commits whether they merge.
  const shown = await who('bob').call('GET', `${at}/pulls/${number}`);
  expect(shown.body.mergeable).toBe(true);

  const force = { force_merge: true };
  await refused('bob', number, 'Changed protected files', force);
  await refused('dave', number, 'Changed protected files', force);
  await change({ block_admin_merge_override: false });
  await refused('dave', number, 'Changed protected files');
  await done(merge('dave', number, force), 200);
});

it('approvals of an earlier head count unless the protection says otherwise', async () => {
  const number = await open('stale', { 'stale.txt': '1' }, { required_approvals: 1 });
  await review('cleo', number, 'APPROVED');
  await git(tree, 'checkout', '-q', 'stale-head');
  await commit(tree, { 'stale.txt': '2' }, 'more');
  await git(tree, 'push', '-q', 'origin', 'stale-head');
  await done(
    who('ada').call('PATCH', `${at}/branch_protections/stale`, { ignore_stale_approvals: true }),
    200,
  );
  await refused('bob', number, 'Does not have enough approvals');
  await review('cleo', number, 'APPROVED');
  await done(merge('bob', number), 200);
});

it('an approval that is dismissed does not count', async () => {
  const number = await open('dismissed', { 'dismissed.txt': '1' }, { required_approvals: 1 });
  const { body } = await review('cleo', number, 'APPROVED');
  const dismissal = { message: 'no' };
  await done(who('ada').call('POST', `${at}/pulls/${number}/reviews/${body.id}/dismissals`, dismissal), 200);
  await refused('bob', number, 'Does not have enough approvals');
});

it('a list of those who bypass lets them force, others not', async () => {
  const number = await open(
    'bypassed',
    { 'bypassed.txt': '1' },
    {
      required_approvals: 1,
      enable_bypass_allowlist: true,
      bypass_allowlist_usernames: ['cleo'],
    },
  );
  await refused('bob', number, 'Does not have enough approvals', { force_merge: true });
  await refused('cleo', number, 'Does not have enough approvals');
  await done(merge('cleo', number, { force_merge: true }), 200);
});

it('no force merges past permission, conflicts, signed commits, dependencies or the allowed style', async () => {
  const force = { force_merge: true };
  const listed = { enable_merge_whitelist: true, merge_whitelist_usernames: ['cleo'] };
  const number = await open('listed', { 'listed.txt': '1' }, listed);
  await refused('ada', number, 'User not allowed to merge PR', force);
  await refused('eve', number, 'User not allowed to merge PR', force);

  const signed = await open('signed', { 'signed.txt': '1' }, { require_signed_commits: true });
  const unsigned = 'the protected branch takes signed commits only, and the merge would not be signed';
  await refused('ada', signed, unsigned, force);

  const waiting = await open('waiting', { 'waiting.txt': '1' });
  const { body } = await done(who('ada').call('POST', `${at}/issues`, { title: 'first' }), 201);
  const first = { owner: 'ada', repo: 'strict', index: body.number };
  await done(who('ada').call('POST', `${at}/issues/${waiting}/dependencies`, first), 201);
  const open405 = 'cannot merge this pull request because it still has open dependencies';
  await refused('ada', waiting, open405, force);
  await done(who('ada').call('PATCH', `${at}/issues/${body.number}`, { state: 'closed' }), 201);
  await done(who('ada').call('PATCH', at, { allow_squash_merge: false }), 200);
  const squash = 'squash is not allowed an allowed merge style for this repository';
  await refused('ada', waiting, squash, { ...force, Do: 'squash' });
  await done(merge('ada', waiting), 200);

  const conflicting = await open('conflicting', { 'same.txt': '1' });
  await git(tree, 'checkout', '-q', '-B', 'conflicting', 'origin/conflicting');
  await commit(tree, { 'same.txt': '2' }, 'base');
  await git(tree, 'push', '-q', 'origin', 'conflicting');
  await refused('ada', conflicting, 'Please try again later', force);
});
