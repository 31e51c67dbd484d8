import type { Api } from 'gitea-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken, forgeForClients } from './support/forge.ts';
import { NotedClients, refusal, sure } from './support/gitea-client.ts';
import { clientOperations, isAboutPulls } from './support/gitea-operations.ts';

// A real client, gitea-js, for everything that it can do with pull requests: what comes of each call is looked at, and the
// last test tells which calls were not made.

const OPERATIONS = clientOperations();
const at = ['ada', 'garden'] as const;
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
let address: string;
const clients = new NotedClients(() => address, OPERATIONS);
/** Ada, whose repository it is, and Ben, who writes to it. */
let ada: Api<unknown>;
let ben: Api<unknown>;

beforeAll(async () => {
  ({ address } = stack.use(await forgeForClients()));
  ada = clients.client(accessToken('ada'));
  ben = clients.client(accessToken('ben'));
  await ben.user.userGetCurrent();
  await ada.user.createCurrentUserRepo({ name: 'garden', auto_init: true, default_branch: 'main' });
  const styles = { allow_fast_forward_only_merge: true, allow_manual_merge: true };
  await ada.repos.repoEdit(...at, { ...styles, allow_rebase_update: true });
  await ada.repos.repoAddCollaborator(...at, 'ben', { permission: 'write' });
});

/** Adds a file of two lines in a commit on a branch, a new one unless it is main, and returns the commit. */
async function plant(branch: string, file = `${branch}.txt`): Promise<string> {
  const content = Buffer.from(`${file}\nblooms\n`).toString('base64');
  const where = branch === 'main' ? { branch } : { branch: 'main', new_branch: branch };
  const { data } = await ben.repos.repoCreateFile(...at, file, {
    content,
    message: `Plant ${file}`,
    ...where,
  });
  return sure(data.commit?.sha);
}

/** A pull request of Ben's with one commit. */
async function open(branch: string): Promise<{ number: number; head: string }> {
  const head = await plant(branch);
  const { data } = await ben.repos.repoCreatePullRequest(...at, {
    head: branch,
    base: 'main',
    title: branch,
  });
  return { number: sure(data.number), head };
}

const show = async (number: number) => (await ada.repos.repoGetPullRequest(...at, number)).data;
const tip = async (branch = 'main') => sure((await ada.repos.repoGetBranch(...at, branch)).data.commit?.id);
const parents = async (commit: string) =>
  sure((await ada.repos.repoGetSingleCommit(...at, commit)).data.parents).map(({ sha }) => sha);
const numbers = (list: readonly { number?: number }[]) => list.map(({ number }) => number);

describe('a pull request', () => {
  let number: number;
  let head: string;

  it('is opened, found and listed', async () => {
    head = await plant('roses');
    const base = await tip();
    const label = (await ada.repos.issueCreateLabel(...at, { name: 'bed', color: '#00aabb' })).data;
    const made = await ben.repos.repoCreatePullRequest(...at, {
      head: 'roses',
      base: 'main',
      title: 'Roses',
      body: 'for @ada',
      assignees: ['ada'],
      labels: [sure(label.id)],
    });
    number = sure(made.data.number);
    expect(made.data).toMatchObject({
      state: 'open',
      mergeable: true,
      merged: false,
      merge_base: base,
      head: { ref: 'roses', sha: head },
      base: { ref: 'main', sha: base },
      user: { login: 'ben' },
      assignees: [{ login: 'ada' }],
      labels: [{ name: 'bed' }],
    });
    expect((await show(number)).title).toBe('Roses');
    const twin = ben.repos.repoCreatePullRequest(...at, { head: 'roses', base: 'main', title: 'again' });
    expect(await refusal(twin)).toBe(409);
    const other = await open('tulips');
    const found = await ben.repos.repoGetPullRequestByBaseHead(...at, 'main', 'roses');
    expect(found.data.number).toBe(number);
    const listed = await ben.repos.repoListPullRequests(...at, { state: 'open', sort: 'oldest' });
    expect(numbers(listed.data)).toEqual([number, other.number]);
    expect(listed.headers.get('x-total-count')).toBe('2');
    const labelled = await ben.repos.repoListPullRequests(...at, { labels: [sure(label.id)] });
    expect(numbers(labelled.data)).toEqual([number]);
  });

  it('is edited, closed and opened again', async () => {
    const edited = await ben.repos.repoEditPullRequest(...at, number, { title: 'Red roses', body: 'b' });
    expect(edited.data).toMatchObject({ title: 'Red roses', body: 'b' });
    await ben.repos.repoEditPullRequest(...at, number, { state: 'closed' });
    expect(numbers((await ada.repos.repoListPullRequests(...at, { state: 'closed' })).data)).toEqual([
      number,
    ]);
    await ben.repos.repoEditPullRequest(...at, number, { state: 'open' });
    expect(await show(number)).toMatchObject({ state: 'open', title: 'Red roses' });
  });

  it('is pinned', async () => {
    await ada.repos.pinIssue(...at, number);
    expect(numbers((await ben.repos.repoListPinnedPullRequests(...at)).data)).toEqual([number]);
    await ada.repos.unpinIssue(...at, number);
    expect((await ben.repos.repoListPinnedPullRequests(...at)).data).toEqual([]);
  });

  it('has commits, files, a diff and a patch', async () => {
    const commits = (await ben.repos.repoGetPullRequestCommits(...at, number)).data;
    expect(commits.map(({ sha }) => sha)).toEqual([head]);
    expect((await ben.repos.repoGetPullRequestFiles(...at, number)).data).toMatchObject([
      { filename: 'roses.txt', status: 'added', additions: 2, deletions: 0 },
    ]);
    const text = async (type: 'diff' | 'patch') =>
      (await ben.repos.repoDownloadPullDiffOrPatch(...at, number, type, {}, { format: 'text' })).data;
    expect(await text('diff')).toContain('+++ b/roses.txt\n@@ -0,0 +1,2 @@\n+roses.txt\n+blooms');
    expect(await text('patch')).toMatch(
      new RegExp(`^From ${head} .*\n(.*\n)*Subject: \\[PATCH\\] Plant roses.txt`),
    );
  });

  it('asks for reviews, and does not any more', async () => {
    const asked = async () => (await show(number)).requested_reviewers?.map(({ login }) => login);
    await ben.repos.repoCreatePullReviewRequests(...at, number, { reviewers: ['ada'] });
    expect(await asked()).toEqual(['ada']);
    await ben.repos.repoDeletePullReviewRequests(...at, number, { reviewers: ['ada'] });
    expect(await asked()).toEqual([]);
  });

  it('is reviewed, and merged only once it is approved', async () => {
    await ada.repos.repoCreateBranchProtection(...at, {
      rule_name: 'main',
      enable_push: true,
      required_approvals: 1,
      block_on_rejected_reviews: true,
    });
    const comments = [{ path: 'roses.txt', new_position: 2, body: 'When?' }];
    const draft = (await ada.repos.repoCreatePullReview(...at, number, { body: 'Nearly', comments })).data;
    expect(draft).toMatchObject({ state: 'PENDING', commit_id: head });
    const id = sure(draft.id);
    expect(await refusal(ben.repos.repoGetPullReview(...at, number, id))).toBe(404);
    const submitted = await ada.repos.repoSubmitPullReview(...at, number, id, {
      event: 'REQUEST_CHANGES',
      body: 'Not yet',
    });
    expect(submitted.data).toMatchObject({ state: 'REQUEST_CHANGES', body: 'Not yet', comments_count: 1 });
    const show = async () => (await ben.repos.repoGetPullReview(...at, number, id)).data;
    expect(await show()).toMatchObject({ user: { login: 'ada' }, official: true, stale: false });
    expect((await ben.repos.repoGetPullReviewComments(...at, number, id)).data).toMatchObject([
      { path: 'roses.txt', body: 'When?', position: 2, diff_hunk: expect.stringContaining('+blooms') },
    ]);
    const merge = () => ben.repos.repoMergePullRequest(...at, number, { Do: 'merge' });
    const approval = (await ada.repos.repoCreatePullReview(...at, number, { event: 'COMMENT', body: 'Hm' }))
      .data;
    expect((await ben.repos.repoListPullReviews(...at, number)).data).toMatchObject([
      { id, state: 'REQUEST_CHANGES' },
      { id: approval.id, state: 'COMMENT' },
    ]);
    expect(await refusal(merge())).toBe(405);
    await ada.repos.repoDismissPullReview(...at, number, id, { message: 'settled' });
    expect(await show()).toMatchObject({ dismissed: true });
    await ada.repos.repoUnDismissPullReview(...at, number, id);
    expect(await show()).toMatchObject({ dismissed: false });
    await ada.repos.repoDeletePullReview(...at, number, sure(approval.id));
    expect((await ben.repos.repoListPullReviews(...at, number)).data).toHaveLength(1);
    await ada.repos.repoCreatePullReview(...at, number, { event: 'APPROVED', body: 'Now' });
    await merge();
    expect(await parents(await tip())).toContain(head);
    await ada.repos.repoDeleteBranchProtection(...at, 'main');
  });

  it('is found by the commit that merged it', async () => {
    const merged = await show(number);
    expect(merged).toMatchObject({ state: 'closed', merged: true, merged_by: { login: 'ben' } });
    const { data } = await ada.repos.repoGetCommitPullRequest(...at, sure(merged.merge_commit_sha));
    expect(data).toMatchObject({ number, merged: true });
  });
});

describe('a head', () => {
  it.each(['merge', 'rebase'] as const)('is brought up to date by a %s', async (style) => {
    const { number, head } = await open(`late-${style}`);
    const base = await plant('main', `early-${style}.txt`);
    await ben.repos.repoUpdatePullRequest(...at, number, { style });
    const updated = sure((await show(number)).head?.sha);
    expect(await tip(`late-${style}`)).toBe(updated);
    expect(await parents(updated)).toEqual(style === 'merge' ? [head, base] : [base]);
    expect(await show(number)).toMatchObject({ merge_base: base, mergeable: true });
    expect((await ada.repos.repoGetPullRequestFiles(...at, number)).data).toHaveLength(1);
  });
});

describe('a merge', () => {
  it('waits for checks until it is cancelled', async () => {
    const { number, head } = await open('scheduled');
    const before = await tip();
    await ada.repos.repoCreateStatus(...at, head, { state: 'pending', context: 'ci' });
    const wish = { Do: 'merge', merge_when_checks_succeed: true } as const;
    await ada.repos.repoMergePullRequest(...at, number, wish);
    expect(await refusal(ada.repos.repoMergePullRequest(...at, number, wish))).toBe(409);
    await ada.repos.repoCancelScheduledAutoMerge(...at, number);
    expect(await refusal(ada.repos.repoCancelScheduledAutoMerge(...at, number))).toBe(404);
    await ada.repos.repoMergePullRequest(...at, number, wish);
    expect(await refusal(ada.repos.repoPullRequestIsMerged(...at, number))).toBe(404);
    expect(await tip()).toBe(before);
    await ada.repos.repoCreateStatus(...at, head, { state: 'success', context: 'ci' });
    await expect.poll(async () => (await show(number)).merged).toBe(true);
    expect(await parents(await tip())).toEqual([before, head]);
  });

  it.each([
    ['merge', (base: string, head: string) => [base, head]],
    ['squash', (base: string) => [base]],
    ['rebase', (base: string) => [base]],
    ['rebase-merge', (base: string) => [base, expect.any(String)]],
  ] as const)('makes the commits of %s', async (style, expected) => {
    const { number, head } = await open(`style-${style}`);
    const base = await plant('main', `before-${style}.txt`);
    expect(await refusal(ada.repos.repoPullRequestIsMerged(...at, number))).toBe(404);
    const stale = { Do: style, head_commit_id: base };
    expect(await refusal(ada.repos.repoMergePullRequest(...at, number, stale))).toBe(409);
    const wish = { Do: style, MergeTitleField: 'In bloom', head_commit_id: head };
    await ada.repos.repoMergePullRequest(...at, number, { ...wish, delete_branch_after_merge: true });
    expect((await ada.repos.repoPullRequestIsMerged(...at, number)).status).toBe(204);
    const made = await tip();
    expect(await parents(made)).toEqual(expected(base, head));
    const { commit } = (await ada.repos.repoGetSingleCommit(...at, made)).data;
    expect(commit?.message).toMatch(style === 'rebase' ? /^Plant / : /^In bloom/);
    expect((await show(number)).merge_commit_sha).toBe(made);
    expect((await ada.repos.repoGetContents(...at, `style-${style}.txt`)).data.type).toBe('file');
    expect(await refusal(ada.repos.repoGetBranch(...at, `style-${style}`))).toBe(404);
  });

  it('moves the base along, or tells which commit somebody merged by hand', async () => {
    const ahead = await open('ahead');
    await ada.repos.repoMergePullRequest(...at, ahead.number, { Do: 'fast-forward-only' });
    expect(await tip()).toBe(ahead.head);
    const byHand = await open('by-hand');
    const commit = await plant('main', 'merged-by-hand.txt');
    const wish = { Do: 'manually-merged', MergeCommitID: commit } as const;
    await ada.repos.repoMergePullRequest(...at, byHand.number, wish);
    expect(await show(byHand.number)).toMatchObject({ merged: true, merge_commit_sha: commit });
    expect(await tip()).toBe(commit);
  });
});

it('is all that the client can do with them', () => {
  const operations = OPERATIONS.filter(isAboutPulls);
  expect(operations.length).toBeGreaterThanOrEqual(24);
  expect(clients.unanswered(operations)).toEqual([]);
});
