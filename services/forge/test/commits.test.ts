import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Body, commit, type Person, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
let first: string;
let changed: string;
let merge: string;
const api = () => `${scene.address}/api/v1/repos/ada/hello`;
const shas = (items: Body[]) => items.map((item) => item['sha']);

beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'hello', scene.folder);
  first = await git(tree, 'rev-parse', 'HEAD');
  changed = await commit(
    tree,
    { 'README.md': '# hello\nmore\n', new: 'a\nb\n', 'lines.txt': null },
    'Change\n\nWhy.',
  );
  await git(tree, 'checkout', '-q', '-b', 'side', first);
  await commit(tree, { side: 's\n' }, 'side');
  await git(tree, 'checkout', '-q', 'main');
  await git(tree, 'merge', '-q', '--no-ff', '-m', 'Merge side', 'side');
  merge = await git(tree, 'rev-parse', 'HEAD');
  await git(tree, 'push', '-q', 'origin', 'main', 'side', 'main:refs/heads/feature/x');
});

describe('the list of commits', () => {
  it('goes back from the default branch, in pages', async () => {
    const { status, items, headers } = await ada.call('GET', '/repos/ada/hello/commits');
    expect(status).toBe(200);
    expect(shas(items).sort()).toEqual((await git(tree, 'rev-list', 'main')).split('\n').sort());
    expect(shas(items)[0]).toBe(merge);
    const page = await ada.call('GET', '/repos/ada/hello/commits?limit=3&page=2');
    expect(shas(page.items)).toEqual([first]);
    const named = ['x-page', 'x-perpage', 'x-total', 'x-pagecount', 'x-hasmore', 'x-total-count'];
    expect(named.map((name) => page.headers.get(name))).toEqual(['2', '3', '4', '2', 'false', '4']);
    expect(page.headers.get('link')).toContain('rel="prev"');
    expect(headers.get('x-hasmore')).toBe('false');
    expect(headers.get('access-control-expose-headers')).toContain('X-Total-Count, Link, X-Page');
    const far = await ada.call('GET', '/repos/ada/hello/commits?page=999999999&limit=50');
    expect([far.status, far.items, far.headers.get('x-total')]).toEqual([200, [], '4']);
  });

  it('says of each commit what clients read', async () => {
    const { items } = await ada.call('GET', `/repos/ada/hello/commits?sha=${changed}&limit=1`);
    const treeId = await git(tree, 'rev-parse', `${changed}^{tree}`);
    const url = `${api()}/git/commits/${changed}`;
    const stamp = { name: 'Ada', email: 'ada@example.test', date: expect.stringMatching(/Z$|\d\d:\d\d$/) };
    expect(items).toEqual([
      {
        url,
        sha: changed,
        created: expect.stringMatching(/Z$/),
        html_url: `${scene.address}/ada/hello/commit/${changed}`,
        commit: {
          url,
          author: stamp,
          committer: stamp,
          message: 'Change\n\nWhy.\n',
          tree: { url: `${api()}/git/trees/${treeId}`, sha: treeId, created: expect.any(String) },
          verification: {
            verified: false,
            reason: 'gpg.error.not_signed_commit',
            signature: '',
            signer: null,
            payload: '',
          },
        },
        author: expect.objectContaining({ login: 'ada' }),
        committer: expect.objectContaining({ login: 'ada' }),
        parents: [{ url: `${api()}/git/commits/${first}`, sha: first, created: '0001-01-01T00:00:00Z' }],
        files: [
          { filename: 'README.md', status: 'modified' },
          { filename: 'lines.txt', status: 'removed' },
          { filename: 'new', status: 'added' },
        ],
        stats: { total: 23, additions: 3, deletions: 20 },
      },
    ]);
  });

  it('counts what a merge brought to its first parent', async () => {
    const { body } = await ada.call('GET', `/repos/ada/hello/git/commits/${merge}`);
    expect(body).toMatchObject({
      files: [{ filename: 'side', status: 'added' }],
      stats: { total: 1, additions: 1, deletions: 0 },
    });
    expect(body['parents']).toHaveLength(2);
  });

  it('leaves out what is not wanted', async () => {
    const { items } = await ada.call(
      'GET',
      '/repos/ada/hello/commits?stat=false&files=false&verification=false',
    );
    expect(items[0]).toMatchObject({ files: null, stats: null, commit: { verification: null } });
    const { items: some } = await ada.call('GET', '/repos/ada/hello/commits?stat=false');
    expect(some[0]).toMatchObject({ files: [{ filename: 'side' }], stats: null });
  });

  it('is of a branch, a tag or an id, without what another has, and of a path', async () => {
    const list = async (query: string) =>
      shas((await ada.call('GET', `/repos/ada/hello/commits?${query}`)).items);
    expect(await list('sha=feature/x&path=new')).toEqual([changed]);
    expect(await list(`sha=${changed.slice(0, 10)}`)).toEqual([changed, first]);
    expect(await list('sha=main&not=side')).toEqual([merge, changed]);
    expect(await list('path=/README.md')).toEqual([changed, first]);
    expect(await list('since=2100-01-01T00:00:00Z')).toEqual([]);
    expect(await list('until=2001-01-01T00:00:00Z')).toEqual([]);
    expect(await list('since=2001-01-01T00:00:00Z')).toHaveLength(4);
    expect(await list('since=1066-10-14')).toHaveLength(4);
    expect(await list('until=1066-10-14')).toEqual([]);
  });

  it.each([
    ['sha=none', 404],
    ['sha=main~1', 404],
    ['sha=@%7B-1%7D', 404],
    ['sha=:/Change', 404],
    ['sha=HEAD~1%5E%7B/first%7D', 404],
    ['sha=main:README.md', 404],
    ['sha=--all', 404],
    ['sha=-x', 404],
    ['sha=..', 404],
    ['sha=main..side', 404],
    ['sha=main%00', 404],
    ['sha=^main', 404],
    ['sha=main%0A', 404],
    [`sha=${'x'.repeat(10_000)}`, 404],
    ['not=none', 404],
    ['not=--all', 404],
    ['path=none', 404],
    ['path=..', 404],
    ['path=:(exclude)new', 404],
    ['path=*', 404],
    ['path=a%00b', 404],
    [`path=${'x'.repeat(10_000)}`, 404],
    ['since=yesterday', 422],
    ['until=99999-01-01', 422],
  ])('answers bad input: %#', async (query, status) => {
    expect((await ada.call('GET', `/repos/ada/hello/commits?${query}`)).status).toBe(status);
  });

  it('of an empty repository is a conflict', async () => {
    await ada.call('POST', '/user/repos', { name: 'empty' });
    const { status, body } = await ada.call('GET', '/repos/ada/empty/commits');
    expect([status, body.message]).toEqual([409, 'Git Repository is empty.']);
    expect((await ada.call('GET', '/repos/ada/empty/commits?sha=main')).status).toBe(404);
  });
});

describe('a commit', () => {
  it('is found by its id, the beginning of it, a branch and a tag', async () => {
    for (const name of [merge, merge.slice(0, 7), 'main', 'feature%2Fx', merge.toUpperCase()])
      expect((await ada.call('GET', `/repos/ada/hello/git/commits/${name}`)).body['sha']).toBe(merge);
    for (const name of ['none', 'f'.repeat(40), 'main~1', '--all', '@', 'HEAD%5E'])
      expect((await ada.call('GET', `/repos/ada/hello/git/commits/${name}`)).status).toBe(404);
    const file = await git(tree, 'rev-parse', 'main:new');
    expect((await ada.call('GET', `/repos/ada/hello/git/commits/${file}`)).status).toBe(404);
  });

  it('shows its changes as a diff and as a patch that can be applied', async () => {
    const diff = await ada.call('GET', `/repos/ada/hello/git/commits/${changed}.diff`);
    expect(diff.headers.get('content-type')).toContain('text/plain');
    expect(diff.text).toMatch(/^diff --git a\/README.md b\/README.md\n/);
    const patch = await ada.call('GET', `/repos/ada/hello/git/commits/${changed}.patch`);
    const accepted = await ada.call('GET', `/repos/ada/hello/git/commits/${changed}`, undefined, {
      accept: 'application/vnd.croft.v3.diff',
    });
    expect(accepted.text).toBe(diff.text);
    expect(patch.text).toContain('Subject: [PATCH] Change\n');
    await writeFile(join(scene.folder, 'p.patch'), patch.text);
    await git(tree, 'checkout', '-q', '-B', 'again', first);
    await git(tree, 'am', '-q', join(scene.folder, 'p.patch'));
    expect(await git(tree, 'rev-parse', 'HEAD^{tree}')).toBe(
      await git(tree, 'rev-parse', `${changed}^{tree}`),
    );
    await git(tree, 'checkout', '-q', 'main');
    expect((await ada.call('GET', `/repos/ada/hello/git/commits/${merge}.diff`)).text).toContain('+s\n');
    expect((await ada.call('GET', `/repos/ada/hello/git/commits/${first}.patch`)).text).toContain('+# hello');
    expect((await ada.call('GET', `/repos/ada/hello/git/commits/${'f'.repeat(40)}.diff`)).status).toBe(404);
    expect((await ada.call('GET', `/repos/ada/hello/git/commits/${changed}.zip`)).status).toBe(404);
  });

  it('may be broken in whatever way git lets through', async () => {
    const blank = await git(tree, 'rev-parse', `${first}^{tree}`);
    const stamp = (who: string, when: string) => `${who} ${when}`;
    const bodies = [
      `tree ${blank}\nauthor ${stamp('', '99999999999999999999 +9999')}\ncommitter x\n\n`,
      `tree ${blank}\nauthor <> 0 +0000\ncommitter A <a@b> -1 -0000\nencoding no-such\n\n\u00ff`,
      `tree ${blank}\nauthor A <a\u0000@b> 1 -0530\ncommitter A <a@b> 253402300799 +1400\ngpgsig -----BEGIN X-----\n line\n -----END X-----\n\nsigned\n`,
    ];
    const bare = await scene.bare('ada', 'hello');
    const ids: string[] = [];
    for (const [index, text] of bodies.entries()) {
      const file = join(scene.folder, `broken-${index}`);
      await writeFile(file, text, 'latin1');
      ids.push(await git(bare, 'hash-object', '-w', '-t', 'commit', '--literally', file));
    }
    const shown = [];
    for (const id of ids) {
      const answer = await ada.call('GET', `/repos/ada/hello/git/commits/${id}`);
      expect(answer.status).toBe(200);
      shown.push(answer.body);
    }
    expect(shown[2]).toMatchObject({
      commit: {
        author: { date: '1969-12-31T18:30:01-05:30' },
        verification: {
          reason: 'gpg.error.no_gpg_keys_found',
          signature: '-----BEGIN X-----\nline\n-----END X-----',
        },
      },
    });
  });

  it('in Latin-1 is read as such', async () => {
    await git(tree, 'config', 'i18n.commitEncoding', 'ISO-8859-1');
    await writeFile(join(scene.folder, 'message'), 'na\u00efve\n', 'latin1');
    await git(tree, 'commit', '-q', '--allow-empty', '-F', join(scene.folder, 'message'));
    await git(tree, 'push', '-q', 'origin', 'HEAD:refs/heads/latin');
    const { body } = await ada.call('GET', '/repos/ada/hello/git/commits/latin');
    expect(body).toMatchObject({ commit: { message: 'naïve\n' } });
    await git(tree, 'reset', '-q', '--hard', 'HEAD~1');
  });

  it('with a giant message is cut, and with a giant address matches nobody', async () => {
    await writeFile(join(scene.folder, 'giant'), 'x'.repeat(2_000_000));
    await git(tree, 'checkout', '-q', '-B', 'giant', 'main');
    await git(
      tree,
      'commit',
      '-q',
      '--allow-empty',
      '-F',
      join(scene.folder, 'giant'),
      '--author',
      `A <${'y'.repeat(50_000)}@x>`,
    );
    await git(tree, 'push', '-q', 'origin', 'giant');
    await git(tree, 'checkout', '-q', 'main');
    const { status, body } = await ada.call('GET', '/repos/ada/hello/git/commits/giant');
    expect(status).toBe(200);
    expect((body['commit'] as { message: string }).message.length).toBeLessThan(300_000);
    expect(body['author']).toBe(null);
  });
});

describe('a comparison', () => {
  it('has the commits that the head has and the base has not', async () => {
    const compare = async (names: string) =>
      (await ada.call('GET', `/repos/ada/hello/compare/${names}`)).body;
    const both = await compare('side...main');
    expect(both['total_commits']).toBe(2);
    expect(shas(both['commits'] as Body[])).toEqual([merge, changed]);
    expect(await compare('main...side')).toEqual({ total_commits: 0, commits: [] });
    expect(await compare('side..feature/x')).toEqual(both);
    // One name is compared with the default branch.
    expect(await compare('side')).toEqual(await compare('main...side'));
    expect(await compare(`side...${merge.slice(0, 9)}`)).toEqual(both);
    expect(await compare('side...feature%2Fx')).toEqual(both);
    const { body: page } = await ada.call('GET', '/repos/ada/hello/compare/side...main?limit=1&page=2');
    expect([page['total_commits'], shas(page['commits'] as Body[])]).toEqual([2, [changed]]);
    const first = await ada.call('GET', '/repos/ada/hello/compare/side...main?limit=1');
    expect(['x-total-count', 'x-hasmore'].map((name) => first.headers.get(name))).toEqual(['2', 'true']);
    expect(first.headers.get('link')).toContain(
      '/repos/ada/hello/compare/side...main?limit=1&page=2>; rel="next"',
    );
  });

  it('is text when that is asked for', async () => {
    const { text } = await ada.call('GET', '/repos/ada/hello/compare/side...main?output=diff');
    expect(text).toMatch(/^diff --git a\/README.md/);
    expect((await ada.call('GET', '/repos/ada/hello/compare/side...main?output=patch')).text).toContain(
      'Subject:',
    );
  });

  it.each([
    'main...none',
    'none...main',
    'a...b...c',
    '...',
    'main...--all',
    'main...@%7B-1%7D',
    '',
    'bob:main...main',
  ])('answers 404 for `%s`', async (names) => {
    expect((await ada.call('GET', `/repos/ada/hello/compare/${names}`)).status).toBe(404);
  });

  it('of unrelated histories has everything', async () => {
    await git(tree, 'checkout', '-q', '--orphan', 'island');
    const island = await commit(tree, { island: 'i' }, 'island');
    await git(tree, 'push', '-q', 'origin', 'island');
    await git(tree, 'checkout', '-q', 'main');
    const { body } = await ada.call('GET', '/repos/ada/hello/compare/main...island');
    expect(shas(body['commits'] as Body[])).toEqual([island]);
    expect((await ada.call('GET', '/repos/ada/hello/compare/main...island?output=diff')).status).toBe(200);
  });
});

it('private repositories are not there for others, and another repository has none of their commits', async () => {
  const secret = await pushedRepository(ada, 'secret', scene.folder, { private: true });
  const id = await git(secret, 'rev-parse', 'HEAD');
  const paths = [
    'commits',
    `git/commits/${id}`,
    `git/commits/${id}.diff`,
    'compare/main...main',
    `git/trees/${id}`,
  ];
  for (const path of paths) {
    expect((await ada.call('GET', `/repos/ada/secret/${path}`)).status).toBe(200);
    const hidden = await bob.call('GET', `/repos/ada/secret/${path}`);
    expect(hidden.status).toBe(404);
    expect(hidden.text).toBe((await bob.call('GET', `/repos/ada/none/${path}`)).text);
  }
  expect((await ada.call('GET', `/repos/ada/hello/git/commits/${id}`)).status).toBe(404);
});

it('the commit of a merge leads to its pull request, others to none', async () => {
  const made = await ada.call('POST', '/repos/ada/hello/branches', { new_branch_name: 'fresh' });
  expect(made.status).toBe(201);
  const file = { content: 'eA==', message: 'fresh', branch: 'fresh' };
  await ada.call('POST', '/repos/ada/hello/contents/fresh.txt', file);
  const { body: pull } = await ada.call('POST', '/repos/ada/hello/pulls', {
    title: 'Fresh',
    head: 'fresh',
    base: 'main',
  });
  const tip = pull.head.sha;
  await ada.call('POST', `/repos/ada/hello/pulls/${pull.number}/merge`, { Do: 'merge' });
  const { body: merged } = await ada.call('GET', `/repos/ada/hello/pulls/${pull.number}`);
  const way = (sha: string, who = ada) => who.call('GET', `/repos/ada/hello/commits/${sha}/pull`);
  for (const sha of [merged.merge_commit_sha, merged.merge_commit_sha.slice(0, 10)])
    expect(await way(sha)).toMatchObject({ status: 200, body: merged });
  for (const sha of [tip, first, '0'.repeat(40), 'none']) expect((await way(sha)).status).toBe(404);
  await scene.sql.run`update :schema.repositories set private = true where name = 'hello'`;
  expect((await way(merged.merge_commit_sha, bob)).status).toBe(404);
  await scene.sql
    .run`update :schema.repositories set private = false, has_pulls = false where name = 'hello'`;
  expect((await way(merged.merge_commit_sha)).status).toBe(404);
  await scene.sql.run`update :schema.repositories set has_pulls = true where name = 'hello'`;
});
