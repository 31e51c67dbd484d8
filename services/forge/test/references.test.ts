import { silentLog } from '@croft/runtime';
import { openDatabase } from '@croft/sql';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../src/context.ts';
import { Links } from '../src/links.ts';
import { findSources } from '../src/references/find-targets.ts';
import { followCommits } from '../src/references/follow-commits.ts';
import type { RepositoryRow } from '../src/store/repositories/repositories.ts';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { ownGit } from './own-git.ts';
import { referenceScene } from './reference-scene.ts';

const scene = useForge();
const { issue, comment, timeline, references, stateOf, settled } = referenceScene(scene, () => ada);
let ada: Person; // owns tools and secret
let wim: Person; // writes to tools
let rob: Person; // reads tools
let eve: Person; // owns evil
let tree: string;
beforeAll(async () => {
  [ada, wim, rob, eve] = ['ada', 'wim', 'rob', 'eve'].map((name) => scene.person(name)) as [
    Person,
    Person,
    Person,
    Person,
  ];
  for (const person of [wim, rob, eve]) await person.call('GET', '/user');
  tree = await pushedRepository(ada, 'tools', scene.folder);
  await ada.call('POST', '/user/repos', { name: 'secret', private: true });
  await eve.call('POST', '/user/repos', { name: 'evil' });
  await ada.call('PUT', '/repos/ada/tools/collaborators/wim', { permission: 'write' });
  await recordHappenings(scene);
});

/** The commit that closed an issue, as its timeline keeps it, and as it was announced. */
async function commitsOf(repository: string, number: number): Promise<unknown[]> {
  const [owner, name] = repository.split('/');
  const row = await scene.sql.row<{ kept: string | null; told: string | null }>`
    select c.details->>'commit_id' as kept, t.payload->>'commitId' as told
    from :schema.comments c join :schema.issues i on i.id = c.issue_id
      join :schema.repositories r on r.id = i.repository_id join :schema.users o on o.id = r.owner_id
      join :schema.told t on (t.payload->>'issueId')::bigint = i.id and t.payload->>'action' = 'closed'
    where o.login = ${owner} and r.name = ${name} and i.number = ${number} and c.kind = 'close'`;
  return [row?.kept, row?.told];
}

describe('texts that name an issue', () => {
  it('are told in its timeline once, with who and where', async () => {
    const target = await issue('ada/tools', 'Target');
    const source = await issue(
      'ada/tools',
      'Source',
      `see #${target}, again #${target} and \`#${target}\``,
      rob,
    );
    // Of two that are told at the same time either may be the first.
    await settled();
    const id = await comment('ada/tools', source, `closes ada/tools#${target}`, wim);
    await comment('ada/tools', target, `this one is #${target}`);
    await settled();
    const found = await references('ada/tools', target);
    expect(found).toMatchObject([
      { type: 'issue_ref', user: { login: 'rob' }, ref_issue: { title: 'Source' }, ref_action: 'none' },
      { type: 'comment_ref', user: { login: 'wim' }, ref_comment: { id }, ref_action: 'none' },
    ]);
    expect(found).toHaveLength(2);
    // Saying is not doing.
    expect(await stateOf('ada/tools', target)).toBe('open');
    await wim.call('PATCH', `/repos/ada/tools/issues/comments/${id}`, { body: `still #${target}` });
    await ada.call('PATCH', `/repos/ada/tools/issues/${source}`, { title: 'Other title' });
    await settled();
    expect(await references('ada/tools', target)).toHaveLength(2);
    await wim.call('DELETE', `/repos/ada/tools/issues/comments/${id}`);
    expect(await references('ada/tools', target)).toMatchObject([{ type: 'issue_ref' }]);
  });

  it('are told when an edit names it', async () => {
    const target = await issue('ada/tools', 'Edited into');
    const source = await issue('ada/tools', 'Says nothing yet');
    await ada.call('PATCH', `/repos/ada/tools/issues/${source}`, {
      body: `${scene.address}/ada/tools/issues/${target}`,
    });
    await settled();
    expect(await references('ada/tools', target)).toMatchObject([{ ref_issue: { number: source } }]);
  });

  it('reach other repositories of those who may read there, and nobody else’s', async () => {
    const secret = await issue('ada/secret', 'Top secret');
    const open = await issue(
      'eve/evil',
      'Here',
      `ada/secret#${secret} ${scene.address}/ada/secret/issues/${secret}`,
      eve,
    );
    await comment('eve/evil', open, `closes ada/secret#${secret}`, eve);
    const entries = () => scene.sql
      .rows`select c.id from :schema.comments c join :schema.issues i on i.id = c.issue_id
      where i.title = 'Top secret'`;
    await settled();
    expect(await entries()).toEqual([]);
    await comment('eve/evil', open, `mine: ada/secret#${secret}`, ada);
    await settled();
    expect(await references('ada/secret', secret)).toMatchObject([
      { type: 'comment_ref', user: { login: 'ada' } },
    ]);
  });

  it('in a private place are told to those who may read that place only', async () => {
    const target = await issue('ada/tools', 'Public');
    const hidden = await issue('ada/secret', 'A title nobody knows', `ada/tools#${target}`);
    await comment('ada/secret', hidden, `and ada/tools#${target}`);
    await settled();
    expect(await references('ada/tools', target)).toHaveLength(2);
    for (const who of [rob, eve, wim]) {
      const answer = await who.call('GET', `/repos/ada/tools/issues/${target}/timeline`);
      expect(answer.items).toEqual([]);
      expect(answer.headers.get('x-total-count')).toBe('0');
      expect(answer.text).not.toContain('nobody knows');
    }
  });

  it('leave locked issues of others and archived repositories alone', async () => {
    const target = await issue('ada/tools', 'Locked');
    await ada.call('PUT', `/repos/ada/tools/issues/${target}/lock`);
    await issue('eve/evil', 'Spam', `ada/tools#${target}`, eve);
    await settled();
    expect(await references('ada/tools', target)).toEqual([]);
    await issue('ada/tools', 'A writer', `#${target}`, wim);
    await settled();
    expect(await references('ada/tools', target)).toHaveLength(1);
  });
});

describe('a text that names very many', () => {
  it('is told in fifty timelines, and looked up in ten other repositories', async () => {
    expect((await ada.call('POST', '/user/repos', { name: 'many' })).status).toBe(201);
    for (let number = 1; number <= 60; number++) await issue('ada/many', `Target ${number}`);
    const all = Array.from({ length: 60 }, (_, index) => `#${index + 1}`).join(' ');
    const source = await issue('ada/many', 'Source', `closes ${all}`);
    const others = Array.from({ length: 12 }, (_, index) => `ada/none${index}#1`).join(' ');
    await comment('ada/many', source, `${others} ada/tools#1`);
    await settled();
    const told = await scene.sql.row`
      select count(*) filter (where r.name = 'many') as here, count(*) filter (where r.name = 'tools') as elsewhere
      from :schema.comments c join :schema.issues i on i.id = c.issue_id join :schema.repositories r on r.id = i.repository_id
      where (c.details->>'ref_issue_id')::bigint in (select id from :schema.issues where title = 'Source' and number = ${source})`;
    expect(told).toEqual({ here: 50, elsewhere: 0 });
  });
});

describe('commits', () => {
  async function push(message: string, who = ada, branch = 'main'): Promise<string> {
    await git(tree, 'checkout', '-q', '-B', branch);
    const id = await commit(tree, { [`${branch}.txt`]: `${message} ${Math.random()}` }, message);
    await git(tree, 'push', '-q', '-f', who.remote('ada/tools'), branch);
    await settled();
    return id;
  }

  it('on the default branch close the issues they say they close', async () => {
    const first = await issue('ada/tools', 'To close');
    const second = await issue('ada/tools', 'To name');
    const id = await push(`Do it\n\nFixes #${first}, see #${second}`, wim);
    expect(await stateOf('ada/tools', first)).toBe('closed');
    expect(await stateOf('ada/tools', second)).toBe('open');
    expect(await timeline('ada/tools', first)).toMatchObject([
      { type: 'commit_ref', ref_commit_sha: id, ref_action: 'closes', body: 'Do it', user: { login: 'wim' } },
      { type: 'close', user: { login: 'wim' } },
    ]);
    expect(await references('ada/tools', second)).toMatchObject([{ ref_commit_sha: id, ref_action: 'none' }]);
    const counted = await ada.call('GET', '/repos/ada/tools');
    const open = await ada.call('GET', '/repos/ada/tools/issues?state=open&type=issues');
    expect(counted.body['open_issues_count']).toBe(Number(open.headers.get('x-total-count')));
    // Opened again it stays open, although the same commit comes again.
    await ada.call('PATCH', `/repos/ada/tools/issues/${first}`, { state: 'open' });
    await push(`Revert; closed #${second} wrongly`, wim);
    expect(await stateOf('ada/tools', first)).toBe('open');
  });

  it('on other branches are told of, and count when they arrive', async () => {
    const number = await issue('ada/tools', 'Later');
    const id = await push(`closes #${number}`, ada, 'topic');
    expect(await stateOf('ada/tools', number)).toBe('open');
    expect(await references('ada/tools', number)).toMatchObject([{ ref_commit_sha: id, ref_action: 'none' }]);
    await git(tree, 'checkout', '-q', 'main');
    await git(tree, 'merge', '-q', '--ff-only', 'topic');
    await git(tree, 'push', '-q', 'origin', 'main');
    await settled();
    expect(await stateOf('ada/tools', number)).toBe('closed');
    expect(await references('ada/tools', number)).toMatchObject([
      { ref_commit_sha: id, ref_action: 'closes' },
    ]);
  });

  it('open again what they say, and only issues', async () => {
    const number = await issue('ada/tools', 'Not done');
    const id = await push(`Done\n\ncloses #${number}`);
    const sent = await push(`Back out\n\nreopens #${number}`, wim);
    expect(await stateOf('ada/tools', number)).toBe('open');
    expect(await timeline('ada/tools', number)).toMatchObject([
      { type: 'commit_ref', ref_commit_sha: id, ref_action: 'closes' },
      { type: 'close', user: { login: 'ada' } },
      { type: 'commit_ref', ref_commit_sha: sent, ref_action: 'reopens' },
      { type: 'reopen', user: { login: 'wim' }, ref_commit_sha: sent },
    ]);
    const counted = await ada.call('GET', '/repos/ada/tools');
    const open = await ada.call('GET', '/repos/ada/tools/issues?state=open&type=issues');
    expect(counted.body['open_issues_count']).toBe(Number(open.headers.get('x-total-count')));
    const pull = { head: 'given-up', base: 'main', title: 'Given up' };
    await push('give up', ada, 'given-up');
    await git(tree, 'checkout', '-q', 'main');
    const { number: given } = (await ada.call('POST', '/repos/ada/tools/pulls', pull)).body;
    await ada.call('PATCH', `/repos/ada/tools/pulls/${given}`, { state: 'closed' });
    await push(`reopens #${given} and reopens #${number}`);
    expect(await stateOf('ada/tools', given)).toBe('closed');
    const types = (await timeline('ada/tools', number)).map((one) => one['type']);
    expect(types.slice(4)).toEqual(['commit_ref']);
  });

  it('open again in other repositories only what the pusher may write to', async () => {
    const foreign = await issue('eve/evil', 'Hers, done', '', eve);
    const own = await issue('eve/evil', 'Ada’s, done', '', ada);
    for (const number of [foreign, own])
      await eve.call('PATCH', `/repos/eve/evil/issues/${number}`, { state: 'closed' });
    await push(`reopens eve/evil#${foreign}\nreopened: eve/evil#${own}`);
    expect([await stateOf('eve/evil', foreign), await stateOf('eve/evil', own)]).toEqual(['closed', 'open']);
    const types = (await timeline('eve/evil', foreign, eve)).map((one) => one['type']);
    expect(types).toEqual(['close', 'commit_ref']);
  });

  it('leave open what waits for something else', async () => {
    const blocked = await issue('ada/tools', 'Blocked');
    const blocker = await issue('ada/tools', 'Blocker');
    const linked = await ada.call('POST', `/repos/ada/tools/issues/${blocked}/dependencies`, {
      owner: 'ada',
      repo: 'tools',
      index: blocker,
    });
    expect(linked.status, linked.text).toBe(201);
    await push(`closes #${blocked}`);
    expect(await stateOf('ada/tools', blocked)).toBe('open');
    expect((await timeline('ada/tools', blocked)).map((one) => one['type'])).toEqual([
      'add_dependency',
      'commit_ref',
    ]);
  });

  it('close in other repositories only what the pusher may write to', async () => {
    const secret = await issue('ada/secret', 'Mine');
    const foreign = await issue('eve/evil', 'Hers', '', eve);
    const own = await issue('eve/evil', 'Ada’s', '', ada);
    await push(`closes ada/secret#${secret}\n\ncloses eve/evil#${foreign}\nfixes eve/evil#${own}`);
    expect(await stateOf('ada/secret', secret)).toBe('closed');
    expect(await stateOf('eve/evil', foreign)).toBe('open');
    expect(await stateOf('eve/evil', own)).toBe('closed');
    expect(await references('eve/evil', foreign, eve)).toMatchObject([{ type: 'commit_ref' }]);
    // Which commit it was is for the readers of its own repository.
    expect(await commitsOf('eve/evil', own)).toEqual([null, null]);
    const here = await issue('ada/tools', 'Here');
    await push(`closes #${here}`);
    const head = await git(tree, 'rev-parse', 'HEAD');
    expect(await commitsOf('ada/tools', here)).toEqual([head, head]);
  });
});

describe('a push that names very many', () => {
  it('is told of a hundred times, by its newest commits, and no further', async () => {
    const made = await ada.call('POST', '/user/repos', { name: 'loud' });
    expect(made.status).toBe(201);
    for (let number = 1; number <= 9; number++) await issue('ada/loud', `Target ${number}`);
    const loud = `${scene.folder}/loud`;
    await git(scene.folder, 'init', '-q', '-b', 'main', loud);
    for (const [name, value] of [
      ['user.name', 'Ada'],
      ['user.email', 'ada@example.test'],
    ])
      await git(loud, 'config', name as string, value as string);
    const told = () => scene.sql.rows<{ sha: string; count: number }>`
      select c.details->>'ref_commit_sha' as sha, count(*)::integer as count
      from :schema.comments c join :schema.issues i on i.id = c.issue_id
        join :schema.repositories r on r.id = i.repository_id
      where r.name = 'loud' and c.kind = 'commit_ref' group by 1`;
    // The first commits are old by then: fifty newer ones name one issue each.
    const all = Array.from({ length: 9 }, (_, index) => `#${index + 1}`).join(' ');
    for (let number = 0; number < 60; number++)
      await git(loud, 'commit', '-q', '--allow-empty', '-m', number < 10 ? `old ${all}` : `new ${number} #1`);
    await git(loud, 'push', '-q', ada.remote('ada/loud'), 'main');
    await settled();
    const first = await told();
    expect(first.map(({ count }) => count)).toEqual(Array(50).fill(1));
    for (let number = 0; number < 20; number++)
      await git(loud, 'commit', '-q', '--allow-empty', '-m', `all ${number} closes ${all}`);
    await git(loud, 'push', '-q', ada.remote('ada/loud'), 'main');
    await settled();
    const counts = (await told()).map(({ count }) => count);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(150);
    expect(counts).toHaveLength(62);
  });

  it('stops when its time is over, and tells of nothing more', async () => {
    const entries = () =>
      scene.sql.row`select count(*) as count from :schema.comments where kind = 'commit_ref'`;
    const row = await scene.sql.row<RepositoryRow>`
      select * from :schema.repositories where name = 'loud'`;
    if (row === undefined) throw new Error('the repository is missing');
    await using stack = new AsyncDisposableStack();
    const database = stack.adopt(
      openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog }),
      (one) => one.close(),
    );
    const own = await ownGit(stack, `${scene.dataFolder}/repositories`);
    const context = { database, git: own, links: new Links(scene.address) } as unknown as Context;
    const loud = `${scene.folder}/loud`;
    const [after, before] = await Promise.all(['HEAD', 'HEAD~5'].map((at) => git(loud, 'rev-parse', at)));
    const push = { ref: 'refs/heads/main', before: before ?? '', after: after ?? '' };
    const source = async () =>
      (await findSources(context, [{ writerId: row.owner_id, repositoryId: row.id }]))[0];
    const follow = (signal: AbortSignal) => followCommits(context, row, push, source, signal);
    const told = await entries();
    await scene.sql.run`delete from :schema.comments where details->>'ref_commit_sha' = ${after}`;
    const without = await entries();
    expect(without).toEqual(told);
    await expect(follow(AbortSignal.abort())).rejects.toThrow();
    expect(await entries()).toEqual(without);
    await follow(new AbortController().signal);
    expect(await entries()).not.toEqual(without);
  });
});

describe('what a review says', () => {
  it('is told in the timelines of the issues it names, as a whole and on lines, and not when it is taken back', async () => {
    const [whole, onLine, later] = [
      await issue('ada/tools', 'Whole'),
      await issue('ada/tools', 'Line'),
      await issue('ada/tools', 'Later'),
    ];
    await git(tree, 'checkout', '-q', '-B', 'reviewed', 'main');
    await commit(tree, { 'reviewed.txt': 'one' }, 'reviewed');
    await git(tree, 'push', '-q', 'origin', 'reviewed');
    await git(tree, 'checkout', '-q', 'main');
    const pull = { head: 'reviewed', base: 'main', title: 'reviewed' };
    const { number } = (await ada.call('POST', '/repos/ada/tools/pulls', pull)).body;
    const reviews = `/repos/ada/tools/pulls/${number}/reviews`;
    const lines = [{ path: 'reviewed.txt', new_position: 1, body: `as in #${onLine}` }];
    const pending = await wim.call('POST', reviews, { body: `closes #${later}`, comments: lines });
    await settled();
    expect(await references('ada/tools', onLine)).toEqual([]);
    const said = { event: 'COMMENT', body: `closes #${whole}` };
    const submitted = await wim.call('POST', `${reviews}/${pending.body.id}`, said);
    expect(submitted.status).toBe(200);
    await settled();
    expect(await references('ada/tools', whole)).toMatchObject([
      {
        type: 'comment_ref',
        user: { login: 'wim' },
        ref_action: 'none',
        ref_issue: { number },
        ref_comment: { body: `closes #${whole}`, user: { login: 'wim' } },
      },
    ]);
    expect(await references('ada/tools', onLine)).toMatchObject([
      { type: 'comment_ref', ref_issue: { number }, ref_comment: { body: `as in #${onLine}` } },
    ]);
    expect(await references('ada/tools', later)).toEqual([]);
    expect(await stateOf('ada/tools', whole)).toBe('open');
    expect((await wim.call('DELETE', `${reviews}/${pending.body.id}`)).status).toBe(204);
    for (const one of [whole, onLine]) expect(await references('ada/tools', one)).toEqual([]);
  });

  it('attack: names more issues than anybody is told of', async () => {
    await git(tree, 'checkout', '-q', '-B', 'naming', 'main');
    await commit(tree, { 'naming.txt': 'one' }, 'naming');
    await git(tree, 'push', '-q', 'origin', 'naming');
    await git(tree, 'checkout', '-q', 'main');
    const pull = { head: 'naming', base: 'main', title: 'naming' };
    const { number } = (await ada.call('POST', '/repos/ada/tools/pulls', pull)).body;
    const named = await issue('ada/tools', 'Named by all of them');
    const first = await issue('ada/tools', 'Named as a whole');
    const comments = Array.from({ length: 50 }, (_, n) => ({
      path: 'naming.txt',
      new_position: 1,
      // Names that nobody has are looked up, too.
      body: `${n}: #${named} #900000001 #900000002 #900000003`,
    }));
    const reviews = `/repos/ada/tools/pulls/${number}/reviews`;
    const made = await wim.call('POST', reviews, { event: 'COMMENT', body: `see #${first}`, comments });
    expect(made.status).toBe(200);
    await settled();
    expect(await references('ada/tools', first)).toHaveLength(1);
    const told = (await references('ada/tools', named)).map((entry) => {
      const { body } = entry['ref_comment'] as { body: string };
      return Number(body.split(':')[0]);
    });
    expect(told.sort((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, n) => n));
  });
});
