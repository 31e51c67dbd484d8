import { randomBytes } from 'node:crypto';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, lines, type Person, pushBranch, pushedRepository, type Scene, useForge } from './forge.ts';
import { forkScene } from './fork-scene.ts';
import { recordHappenings } from './happenings.ts';
import { rowsOf } from './rows-of.ts';

const file = (text: string, more: object = {}) => ({
  content: Buffer.from(text).toString('base64'),
  message: 'a file',
  ...more,
});
const sync = (who: Person, repository: string, branch: string, more: object = {}) =>
  who.call('POST', `/repos/${repository}/merge-upstream`, { branch, ...more });

describe('a fork', () => {
  const scene = useForge();
  let ada: Person;
  let bob: Person;
  let eve: Person;
  let tree: string;
  let forked: string;
  let bare: string;
  let bobs: string;
  beforeAll(async () => {
    ({ ada, bob, eve, tree, forked, bare, bobs } = await forkScene(scene));
    await recordHappenings(scene);
  });

  const ahead = async (name: string, text = name) => {
    await commit(tree, { [name]: text }, name);
    await git(tree, 'push', '-q', 'origin', 'main');
    return await git(tree, 'rev-parse', 'main');
  };
  const tipOf = (branch: string) => git(bobs, 'rev-parse', branch);
  const stored = () =>
    Promise.all([
      git(bare, 'for-each-ref'),
      git(bobs, 'for-each-ref'),
      // Nothing is copied for what is refused, so it cannot be copied again and again either.
      git(bobs, 'cat-file', '--batch-all-objects', '--batch-check', '--unordered').then((all) =>
        all.split('\n').sort(),
      ),
      rowsOf(scene, 'issues', 'pulls', 'pushes', 'told', 'repositories(id, name, updated_at)'),
    ]);
  const lastTold = async () =>
    (await scene.sql.row<{ payload: object }>`select payload from :schema.told order by id desc limit 1`)
      ?.payload;

  it('follows its parent, is told of as pushed by the caller, and has nothing to do the second time', async () => {
    const before = await tipOf('main');
    const tip = await ahead('ahead1.txt');
    const done = await sync(bob, 'bob/bobs', 'main');
    expect([done.status, done.body]).toEqual([200, { merge_type: 'fast-forward' }]);
    expect(await tipOf('main')).toBe(tip);
    const people = await scene.sql.row<{ id: number }>`select id from :schema.users where login = 'bob'`;
    expect(await lastTold()).toMatchObject({
      kind: 'ref',
      ref: 'refs/heads/main',
      before,
      after: tip,
      actorId: people?.id,
    });
    const after = await stored();
    expect((await sync(bob, 'bob/bobs', 'main', { ff_only: true })).body).toEqual({
      merge_type: 'up-to-date',
    });
    expect(await stored()).toEqual(after);
  });

  it('with commits of its own gets a merge commit in the name of the caller, unless it is only to follow', async () => {
    await git(forked, 'pull', '-q', 'origin', 'main');
    const own = await pushBranch(forked, 'main', { 'own.txt': 'own' });
    const tip = await ahead('ahead2.txt');
    const before = await stored();
    expect((await sync(bob, 'bob/bobs', 'main', { ff_only: true })).status).toBe(400);
    expect(await stored()).toEqual(before);
    expect((await sync(bob, 'bob/bobs', 'main')).body).toEqual({ merge_type: 'merge' });
    expect(await git(bobs, 'log', '-1', '--format=%P|%an|%ae|%cn|%s', 'main')).toMatch(
      new RegExp(`^${own} ${tip}\\|bob\\|.*\\|bob\\|Merge upstream branch 'main' into main$`),
    );
    expect(await git(bobs, 'ls-tree', '--name-only', 'main')).toContain('ahead2.txt');
    expect(await git(bobs, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
    expect((await sync(bob, 'bob/bobs', 'main')).body).toEqual({ merge_type: 'up-to-date' });
  });

  it('takes the branch of the same name, and where there is none the default branch', async () => {
    await git(forked, 'fetch', '-q', ada.remote('ada/work'), 'main');
    await pushBranch(forked, 'topic/one', {}, 'FETCH_HEAD');
    const main = await ahead('ahead3.txt');
    expect((await sync(bob, 'bob/bobs', 'topic/one')).status).toBe(200);
    expect(await git(bobs, 'log', '-1', '--format=%P|%s', 'topic/one')).toContain(
      `${main}|Merge upstream branch 'main' into topic/one`,
    );
    const topic = await pushBranch(tree, 'topic/one', { 'topic.txt': 'topic' });
    expect((await sync(bob, 'bob/bobs', 'topic/one')).body).toEqual({ merge_type: 'merge' });
    expect(await git(bobs, 'rev-parse', 'topic/one^2')).toBe(topic);
  });

  it('lets pull requests from and into the branch follow', async () => {
    await git(forked, 'fetch', '-q', 'origin');
    await pushBranch(forked, 'out', { 'out.txt': 'out' }, 'origin/main');
    await pushBranch(forked, 'inner', { 'inner.txt': 'inner' }, 'origin/main');
    const wish = { head: 'bob:out', base: 'main', title: 'out' };
    const { number } = (await bob.call('POST', '/repos/ada/work/pulls', wish)).body;
    const inner = { head: 'inner', base: 'out', title: 'inner' };
    const into = (await bob.call('POST', '/repos/bob/bobs/pulls', inner)).body.number;
    await ahead('ahead4.txt');
    expect((await sync(bob, 'bob/bobs', 'out')).status).toBe(200);
    const tip = await tipOf('out');
    const shown = async () => (await ada.call('GET', `/repos/ada/work/pulls/${number}`)).body.head.sha;
    await expect.poll(shown).toBe(tip);
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(tip);
    expect((await bob.call('GET', `/repos/bob/bobs/pulls/${into}`)).body.base.sha).toBe(tip);
  });

  it('is merged once when several want it at once', async () => {
    await git(forked, 'fetch', '-q', 'origin');
    await pushBranch(forked, 'raced', { 'raced.txt': 'x' }, 'origin/main');
    const tip = await ahead('ahead5.txt');
    const replies = await Promise.all([1, 2, 3].map(() => sync(bob, 'bob/bobs', 'raced')));
    expect(replies.map(({ body }) => body['merge_type']).sort()).toEqual([
      'merge',
      'up-to-date',
      'up-to-date',
    ]);
    expect(await git(bobs, 'rev-parse', 'raced^2')).toBe(tip);
    expect(await git(bobs, 'rev-list', '--count', '--merges', '--first-parent', 'main..raced')).toBe('1');
  });

  it('loses nothing that is pushed meanwhile', async () => {
    await git(forked, 'fetch', '-q', 'origin');
    await pushBranch(forked, 'busy', { 'busy.txt': 'x' }, 'origin/main');
    await git(forked, 'checkout', '-q', 'busy');
    for (const round of [1, 2, 3]) {
      const tip = await ahead(`busy${round}.txt`);
      await git(forked, 'pull', '-q', 'origin', 'busy');
      const pushed = await commit(forked, { 'busy.txt': `${round}` }, `round ${round}`);
      const [done, push] = await Promise.all([
        sync(bob, 'bob/bobs', 'busy'),
        git(forked, 'push', '-q', 'origin', 'busy').then(
          () => true,
          () => false,
        ),
      ]);
      expect(done.status).toBe(200);
      const kept = await git(bobs, 'rev-list', 'busy');
      expect(kept).toContain(tip);
      expect(kept.includes(pushed)).toBe(push);
      if (!push) await git(forked, 'reset', '-q', '--hard', 'HEAD~1');
    }
    await git(forked, 'checkout', '-q', 'main');
  });

  describe('is left as it is', () => {
    it.each([
      ['what is no fork', 'ada/work', 'main', 400],
      ['a conflict', 'bob/bobs', 'conflict', 400],
      ['unrelated histories', 'bob/bobs', 'unrelated', 400],
      ['a protected branch', 'bob/bobs', 'protected', 403],
      ['protected files', 'bob/bobs', 'guarded', 403],
      ['an archive', 'bob/bobs', 'protected', 423],
      ['a missing branch', 'bob/bobs', 'none', 404],
      ['an option', 'bob/bobs', '--upload-pack=x', 404],
      ['an expression', 'bob/bobs', 'main~1', 404],
      ['another ref', 'bob/bobs', '../pull/1/head', 404],
      ['no branch', 'bob/bobs', '', 422],
    ])('%s (%s %s: %i)', async (what, repository, branch, status) => {
      const settings = `/repos/${repository}`;
      if (what === 'a conflict') {
        await pushBranch(forked, branch, { 'lines.txt': `theirs\n${lines(2, 20)}` }, 'origin/main');
        await ahead('lines.txt', `ours\n${lines(2, 20)}`);
      }
      if (what === 'unrelated histories') {
        await git(forked, 'checkout', '-q', '--orphan', branch);
        await commit(forked, { 'alone.txt': 'x' }, 'alone');
        await git(forked, 'push', '-q', 'origin', branch);
        await git(forked, 'checkout', '-q', '-f', 'main');
      }
      if (what === 'a protected branch') {
        await pushBranch(forked, branch, {}, 'origin/main~1');
        const rule = { rule_name: branch, enable_push: false };
        await bob.call('POST', '/repos/bob/bobs/branch_protections', rule);
      }
      if (what === 'protected files') {
        await pushBranch(forked, branch, {}, 'origin/main~1');
        await ahead('guard.key');
        const rule = { rule_name: branch, enable_push: true, protected_file_patterns: '*.key' };
        await bob.call('POST', '/repos/bob/bobs/branch_protections', rule);
      }
      const who = repository === 'ada/work' ? ada : bob;
      if (status === 423) await who.call('PATCH', settings, { archived: true });
      const before = await stored();
      const refused = await sync(who, repository, branch);
      expect([refused.status, refused.text]).toEqual([status, expect.any(String)]);
      if (what === 'a conflict') expect(refused.body['conflicted_files']).toEqual(['lines.txt']);
      expect(await stored()).toEqual(before);
      if (status === 423) await who.call('PATCH', settings, { archived: false });
    });

    it('by whoever may not write to it', async () => {
      await bob.call('PUT', '/repos/bob/bobs/collaborators/eve', { permission: 'read' });
      const before = await stored();
      expect((await sync(eve, 'bob/bobs', 'main')).status).toBe(403);
      expect(await stored()).toEqual(before);
      expect((await sync(eve, 'bob/none', 'main')).status).toBe(404);
    });

    it('when it or its parent is empty', async () => {
      await ada.call('POST', '/user/repos', { name: 'bare' });
      expect((await bob.call('POST', '/repos/ada/bare/forks', {})).status).toBe(202);
      expect((await sync(bob, 'bob/bare', 'main')).status).toBe(404);
      await ada.call('POST', '/repos/ada/bare/contents/one.txt', file('one'));
      expect((await sync(bob, 'bob/bare', 'main')).status).toBe(404);
      expect(await git(await scene.bare('bob', 'bare'), 'for-each-ref')).toBe('');
    });
  });

  it('attack: a parent that became private gives nothing to whoever may not read its code', async () => {
    const at = '/repos/guild/vault';
    await ada.call('POST', '/orgs', { username: 'guild' });
    await ada.call('POST', '/orgs/guild/repos', { name: 'vault', auto_init: true });
    expect((await bob.call('POST', `${at}/forks`, { name: 'vaults' })).status).toBe(202);
    await ada.call('PATCH', at, { private: true });
    expect((await ada.call('POST', `${at}/contents/secret.txt`, file('secret'))).status).toBe(201);
    const vaults = await scene.bare('bob', 'vaults');
    const tip = await git(await scene.bare('guild', 'vault'), 'rev-parse', 'main');
    const kept = () => Promise.all([git(vaults, 'for-each-ref'), rowsOf(scene, 'pushes', 'told')]);
    const refuse = async () => {
      const before = await kept();
      const refused = await sync(bob, 'bob/vaults', 'main');
      expect(refused).toMatchObject({ status: 404, body: { message: "The target couldn't be found." } });
      // Nor does it tell which branches there are.
      expect((await sync(bob, 'bob/vaults', 'none')).text).toBe(refused.text);
      expect(await kept()).toEqual(before);
      await expect(git(vaults, 'cat-file', '-e', tip)).rejects.toThrow();
    };
    await refuse();
    const team = { name: 'issues', includes_all_repositories: true, units_map: { 'repo.issues': 'read' } };
    const { id } = (await ada.call('POST', '/orgs/guild/teams', team)).body;
    expect((await ada.call('PUT', `/teams/${id}/members/bob`)).status).toBe(204);
    expect((await bob.call('GET', at)).status).toBe(200);
    await refuse();
    await ada.call('PATCH', `/teams/${id}`, {
      name: 'issues',
      units_map: { 'repo.issues': 'read', 'repo.code': 'read' },
    });
    // Whoever has a token for public things may not either.
    const narrow = { name: 'public', scopes: ['public-only', 'write:repository'] };
    const { sha1 } = (await bob.call('POST', '/users/bob/tokens', narrow)).body;
    const headers = { authorization: `token ${sha1}` };
    const path = '/repos/bob/vaults/merge-upstream';
    expect((await bob.call('POST', path, { branch: 'main' }, headers)).status).toBe(404);
    expect((await sync(bob, 'bob/vaults', 'main')).body).toEqual({ merge_type: 'fast-forward' });
    expect(await git(vaults, 'rev-parse', 'main')).toBe(tip);
  });

  it('whose parent is gone is no fork any more', async () => {
    await ada.call('POST', '/user/repos', { name: 'short', auto_init: true });
    await bob.call('POST', '/repos/ada/short/forks', {});
    expect((await ada.call('DELETE', '/repos/ada/short')).status).toBe(204);
    expect((await sync(bob, 'bob/short', 'main')).status).toBe(400);
  });
});

describe('with a size limit', () => {
  const scene: Scene = useForge({ environment: { FORGE_GIT_MAX_REPOSITORY_BYTES: '1000000' } });

  it('a fork takes what it has room for', async () => {
    const [ada, bob] = [scene.person('ada'), scene.person('bob')];
    for (const person of [ada, bob]) await person.call('GET', '/user');
    const tree = await pushedRepository(ada, 'work', scene.folder);
    await bob.call('POST', '/repos/ada/work/forks', { name: 'bobs' });
    const bobs = await scene.bare('bob', 'bobs');
    await bob.call('POST', '/repos/bob/bobs/contents/own.bin', {
      content: randomBytes(600_000).toString('base64'),
    });
    const small = await pushBranch(tree, 'main', { 'small.bin': randomBytes(100_000) });
    expect((await sync(bob, 'bob/bobs', 'main')).body).toEqual({ merge_type: 'merge' });
    expect(await git(bobs, 'rev-parse', 'main^2')).toBe(small);
    const large = await pushBranch(tree, 'main', { 'large.bin': randomBytes(500_000) });
    const before = await Promise.all([git(bobs, 'for-each-ref'), rowsOf(scene, 'pushes')]);
    expect((await sync(bob, 'bob/bobs', 'main')).status).toBe(413);
    expect(await Promise.all([git(bobs, 'for-each-ref'), rowsOf(scene, 'pushes')])).toEqual(before);
    await expect(git(bobs, 'cat-file', '-e', large)).rejects.toThrow();
  });
});
