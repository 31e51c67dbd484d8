import { readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { commit, pushBranch } from './forge.ts';
import { killDuring, useKillableForge } from './killable-forge.ts';

const forge = useKillableForge();
const { ada } = forge;
const path = '/repos/ada/work/pulls';
/** Its work tree, the forge's own repository and the tables. */
let { tree, bare, sql } = forge;
beforeAll(() => {
  ({ tree, bare, sql } = forge);
});

async function openPull(branch: string): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, { [branch]: '1' }, 'origin/main');
  return (await ada.call('POST', path, { head: branch, base: 'main', title: branch })).body.number;
}

/** Rows and repository must tell the same story about every pull request. */
async function checkAgreement(): Promise<void> {
  expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  expect(await sql.rows`select * from :schema.merges`).toEqual([]);
  const locks = (await readdir(join(bare, 'refs'), { recursive: true })).filter((name) =>
    name.endsWith('.lock'),
  );
  expect(locks).toEqual([]);
  const rows = await sql.rows<{
    number: number;
    title: string;
    closed_at: Date | null;
    merged_at: Date | null;
    merge_commit_sha: string | null;
    head_sha: string;
  }>`select * from :schema.pulls p join :schema.issues i on i.id = p.issue_id order by number`;
  const onMain = new Set((await git(bare, 'rev-list', 'main')).split('\n'));
  for (const row of rows) {
    const { body } = await ada.call('GET', `${path}/${row.number}`);
    expect(await git(bare, 'rev-parse', `refs/pull/${row.number}/head`)).toBe(row.head_sha);
    // A merged one shows where its branch went since.
    if (row.merged_at === null) expect(body.head.sha).toBe(row.head_sha);
    // Merged in the rows exactly when the branch has the commits of the pull request.
    expect({ number: row.number, merged: row.merged_at !== null }).toEqual({
      number: row.number,
      merged: onMain.has(row.head_sha),
    });
    if (row.merge_commit_sha !== null) {
      expect(onMain.has(row.merge_commit_sha)).toBe(true);
      expect(row.closed_at).not.toBe(null);
    }
  }
  const counted = await sql.row`
    select closed_pulls = (select count(*) from :schema.issues where is_pull and closed_at is not null) as right
    from :schema.repositories where name = 'work'`;
  expect(counted).toEqual({ right: true });
}

it('killed between the move of the branch and its record, the merge is finished at the next start', async () => {
  const number = await openPull('recorded-late');
  const before = await git(bare, 'rev-parse', 'main');
  await killDuring(forge, 'update on forge.pulls', async () => {
    void ada.call('POST', `${path}/${number}/merge`, {}).catch(() => undefined);
    await expect.poll(() => git(bare, 'rev-parse', 'main')).not.toBe(before);
  });
  await expect.poll(() => sql.rows`select pull_id from :schema.merges`).toHaveLength(1);
  await forge.start();
  expect((await ada.call('GET', `${path}/${number}`)).body).toMatchObject({
    merged: true,
    merge_commit_sha: await git(bare, 'rev-parse', 'main'),
    merged_by: { login: 'ada' },
  });
  await checkAgreement();
});

it('killed between the intent and the move of the branch, the merge is abandoned and can be done again', async () => {
  const number = await openPull('never-moved');
  await forge.kill();
  await sql.run`
    insert into :schema.merges
    select p.id, 1, p.base_branch, ${await git(bare, 'rev-parse', 'main')}, p.head_sha, p.head_sha, ${'f'.repeat(40)}, now()
    from :schema.pulls p join :schema.issues i on i.id = p.issue_id where i.number = ${number}`;
  await forge.start();
  await checkAgreement();
  expect((await ada.call('GET', `${path}/${number}`)).body).toMatchObject({ merged: false, state: 'open' });
  expect((await ada.call('POST', `${path}/${number}/merge`, {})).status).toBe(200);
});

it('a merge that is finished while its own ref is locked says so, and the next start writes the ref', async () => {
  const number = await openPull('locked');
  const [before, base] = [await git(bare, 'rev-parse', 'locked'), await git(bare, 'rev-parse', 'main')];
  // Head and base moved, the crash came before the pull request's own ref and the record.
  await git(tree, 'checkout', '-q', 'locked');
  const head = await commit(tree, { locked: '2' }, 'more');
  await git(tree, 'checkout', '-q', 'main');
  await git(tree, 'push', '-q', bare, 'locked');
  const merged = await git(bare, 'commit-tree', '-m', 'merge', '-p', base, '-p', head, `${head}^{tree}`);
  await git(bare, 'update-ref', 'refs/heads/main', merged);
  await sql.run`
    insert into :schema.merges
    select p.id, 1, p.base_branch, ${base}, ${head}, ${base}, ${merged}, now()
    from :schema.pulls p join :schema.issues i on i.id = p.issue_id where i.number = ${number}`;
  const lock = join(bare, `refs/pull/${number}/head.lock`);
  await writeFile(lock, '');
  // Finishes what it finds before it says no.
  expect((await ada.call('POST', `${path}/${number}/merge`, {})).status).toBe(405);
  const row = () => sql.row`
    select head_sha, written_sha, merged_at is not null as merged from :schema.pulls p
      join :schema.issues i on i.id = p.issue_id where i.number = ${number}`;
  expect(await row()).toEqual({ head_sha: head, written_sha: before, merged: true });
  await rm(lock);
  await forge.kill();
  await forge.start();
  expect(await row()).toEqual({ head_sha: head, written_sha: head, merged: true });
  await checkAgreement();
});

it('an interrupted merge is looked for on the branch it was made for', async () => {
  await git(tree, 'push', '-q', 'origin', 'main:refs/heads/other');
  const number = await openPull('recorded-base');
  const head = await git(bare, 'rev-parse', 'recorded-base');
  await forge.kill();
  // Landed on the branch the row says now, announced for another: that is not this merge.
  await sql.run`
    insert into :schema.merges
    select p.id, 1, 'other', ${await git(bare, 'rev-parse', 'main')}, p.head_sha, p.head_sha, ${await git(bare, 'rev-parse', 'main')}, now()
    from :schema.pulls p join :schema.issues i on i.id = p.issue_id where i.number = ${number}`;
  await git(bare, 'update-ref', 'refs/heads/other', 'main~1');
  await forge.start();
  await checkAgreement();
  expect((await ada.call('GET', `${path}/${number}`)).body).toMatchObject({
    merged: false,
    state: 'open',
    head: { sha: head },
  });
});

it('killed before a push was recorded, the next start records it', async () => {
  const number = await openPull('unrecorded');
  await git(tree, 'checkout', '-q', 'unrecorded');
  const head = await commit(tree, { unrecorded: '2' }, 'more');
  await git(tree, 'checkout', '-q', 'main');
  await forge.kill();
  // What a push leaves behind that moved its branch and came no further.
  await git(tree, 'push', '-q', bare, 'unrecorded');
  await sql.run`insert into :schema.pushes (repository_id, started_at) select id, now() from :schema.repositories`;
  await forge.start();
  expect((await ada.call('GET', `${path}/${number}`)).body.head.sha).toBe(head);
  await checkAgreement();
  expect(await sql.rows`select * from :schema.pushes`).toEqual([]);
});

it('killed at random moments of merges and pushes, nothing is lost, halved or stuck', async () => {
  for (let round = 0; round < 3; round++) {
    const numbers = [await openPull(`a${round}`), await openPull(`b${round}`)];
    await git(tree, 'checkout', '-q', '-B', 'pushed', 'origin/main');
    await commit(tree, { [`pushed-${round}`]: '1' }, 'pushed');
    const pending = [
      ...numbers.map((number) => ada.call('POST', `${path}/${number}/merge`, {}).catch(() => undefined)),
      git(tree, 'push', '-q', '-f', 'origin', `pushed:a${round}`).catch(() => undefined),
      git(tree, 'push', '-q', 'origin', `pushed:extra-${round}`).catch(() => undefined),
    ];
    await sleep(Math.random() * 120);
    await forge.kill();
    const answers = await Promise.all(pending);
    await forge.start();
    await checkAgreement();
    // What was answered with success is still so.
    for (const [index, number] of numbers.entries()) {
      const answer = answers[index];
      if (typeof answer === 'object' && answer.status === 200) {
        expect((await ada.call('GET', `${path}/${number}`)).body['merged']).toBe(true);
      }
    }
    // And nothing stands in the way of going on.
    await git(tree, 'push', '-q', '-f', 'origin', `pushed:extra-${round}`);
  }
});

it('its helpers end with it, and take their folder along', async () => {
  const folders = async () =>
    (await readdir(tmpdir())).filter((name) => name.startsWith('croft-git-')).sort();
  const before = await folders();
  await forge.kill();
  await expect.poll(async () => (await folders()).length).toBeLessThan(before.length);
  await forge.start();
});
