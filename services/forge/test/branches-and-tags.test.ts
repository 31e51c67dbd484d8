import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
let head: string;
const TEXT_OF_404 = "The target couldn't be found.";

beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  tree = await pushedRepository(ada, 'hello', scene.folder);
  await bob.call('GET', '/user');
  await pushBranch(tree, 'feature/one', { one: '1' });
  await pushBranch(tree, 'odd,name+#%25', { two: '2' });
  head = await git(tree, 'rev-parse', 'main');
  await git(tree, 'tag', 'light');
  await git(tree, '-c', 'tag.gpgsign=false', 'tag', '-a', '-m', 'Version one', 'v1.0');
  await git(tree, 'tag', '-a', '-m', 'A tag of a tag', 'again/v1', 'v1.0');
  await git(tree, 'tag', 'of-a-file', 'HEAD:README.md');
  await git(tree, 'push', '-q', '--tags');
});

describe('branches', () => {
  it('are listed in the order of the alphabet, in pages', async () => {
    const { status, items, headers } = await ada.call('GET', '/repos/ada/hello/branches');
    expect(status).toBe(200);
    expect(items.map((item) => item['name'])).toEqual(['feature/one', 'main', 'odd,name+#%25']);
    expect(headers.get('x-total-count')).toBe('3');
    const second = await ada.call('GET', '/repos/ada/hello/branches?limit=2&page=2');
    expect(second.items.map((item) => item['name'])).toEqual(['odd,name+#%25']);
    expect(second.headers.get('x-total-count')).toBe('3');
    expect(second.headers.get('link')).toContain('rel="prev"');
    expect((await ada.call('GET', '/repos/ada/hello/branches?page=99')).items).toEqual([]);
    expect((await ada.call('GET', '/repos/ada/hello/branches?q=FEAT')).items).toHaveLength(1);
  });

  it('say everything clients read', async () => {
    const { body } = await ada.call('GET', '/repos/ada/hello/branches/main');
    expect(body).toEqual({
      name: 'main',
      commit: {
        id: head,
        message: 'first\n',
        url: `${scene.address}/ada/hello/commit/${head}`,
        author: { name: expect.any(String), email: expect.any(String), username: 'ada' },
        committer: { name: expect.any(String), email: expect.any(String), username: 'ada' },
        verification: {
          verified: false,
          reason: 'gpg.error.not_signed_commit',
          signature: '',
          signer: null,
          payload: '',
        },
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        added: null,
        removed: null,
        modified: null,
      },
      protected: false,
      required_approvals: 0,
      enable_status_check: false,
      status_check_contexts: [],
      user_can_push: true,
      user_can_merge: true,
      effective_branch_protection_name: '',
    });
  });

  it('tell when their commit was written, as pushes do, not when it was put where it is', async () => {
    await ada.call('POST', '/user/repos', { name: 'dated' });
    const dates = { author: '2020-01-02T03:04:05Z', committer: '2024-05-06T07:08:09Z' };
    await ada.call('POST', '/repos/ada/dated/contents/a', { content: 'YQ==', branch: 'main', dates });
    const { body } = await ada.call('GET', '/repos/ada/dated/branches/main');
    expect(body).toMatchObject({ commit: { timestamp: '2020-01-02T03:04:05Z' } });
  });

  it.each([
    ['a slash', 'feature/one', 'feature/one'],
    ['an encoded slash', 'feature%2Fone', 'feature/one'],
    ['signs that addresses have a use for', 'odd,name+%23%2525', 'odd,name+#%25'],
  ])('are found by a name with %s', async (_what, path, name) => {
    const { status, body } = await ada.call('GET', `/repos/ada/hello/branches/${path}`);
    expect(status).toBe(200);
    expect(body['name']).toBe(name);
  });

  it.each([
    ['that does not exist', 'none'],
    ['that is an expression', 'main~1'],
    ['that is another', 'main%5E%7Bcommit%7D'],
    ['of the reflog', '@%7B-1%7D'],
    ['that is a search', ':%2Ffirst'],
    ['that is a path', 'main:README.md'],
    ['that is an option', '--all'],
    ['that is a pattern', 'ma*'],
    ['that is a full ref', 'refs%2Fheads%2Fmain'],
    ['that leaves its folder', '..%2Ftags%2Flight'],
    ['with NUL', 'main%00'],
    ['with a line break', 'main%0Ainfo%20refs/heads/main'],
    ['of 10 kB', 'x'.repeat(10_000)],
    ['of a tag', 'light'],
  ])('answer 404 for a name %s', async (_what, path) => {
    const { status, body } = await ada.call('GET', `/repos/ada/hello/branches/${path}`);
    expect(status).toBe(404);
    expect(body.message).toEqual(expect.any(String));
    // And the conversation with git goes on.
    expect((await ada.call('GET', '/repos/ada/hello/branches/main')).status).toBe(200);
  });

  it('show what protections say, to each what he may do', async () => {
    await scene.sql.run`
      insert into :schema.branch_protections (repository_id, rule_name, options, created_at, updated_at)
      select r.id, 'feature/*', ${JSON.stringify({
        enable_push: false,
        enable_status_check: true,
        status_check_contexts: ['ci'],
        required_approvals: 2,
        protected_file_patterns: '',
        unprotected_file_patterns: '',
      })}, now(), now() from :schema.repositories r where name = 'hello'`;
    const { body } = await ada.call('GET', '/repos/ada/hello/branches/feature/one');
    expect(body).toMatchObject({
      protected: true,
      required_approvals: 2,
      enable_status_check: true,
      status_check_contexts: ['ci'],
      user_can_push: false,
      user_can_merge: true,
      effective_branch_protection_name: 'feature/*',
    });
    const { body: forBob } = await bob.call('GET', '/repos/ada/hello/branches/main');
    expect(forBob).toMatchObject({ protected: false, user_can_push: false, user_can_merge: false });
  });

  it('of a repository without commits are none', async () => {
    await ada.call('POST', '/user/repos', { name: 'empty' });
    expect((await ada.call('GET', '/repos/ada/empty/branches')).items).toEqual([]);
    expect((await ada.call('GET', '/repos/ada/empty/branches/main')).status).toBe(404);
    expect((await ada.call('GET', '/repos/ada/empty/tags')).items).toEqual([]);
  });
});

describe('tags', () => {
  it('are listed with what they are of', async () => {
    const { items, headers } = await ada.call('GET', '/repos/ada/hello/tags');
    expect(headers.get('x-total-count')).toBe('3');
    expect(items.map((item) => item['name']).sort()).toEqual(['again/v1', 'light', 'v1.0']);
    const annotated = await git(tree, 'rev-parse', 'v1.0');
    expect(items.find((item) => item['name'] === 'v1.0')).toEqual({
      name: 'v1.0',
      message: 'Version one',
      id: annotated,
      commit: {
        url: `${scene.address}/api/v1/repos/ada/hello/git/commits/${head}`,
        sha: head,
        created: expect.stringMatching(/Z$/),
      },
      zipball_url: `${scene.address}/api/v1/repos/ada/hello/archive/v1.0.zip`,
      tarball_url: `${scene.address}/api/v1/repos/ada/hello/archive/v1.0.tar.gz`,
    });
    expect(items.find((item) => item['name'] === 'again/v1')).toMatchObject({ commit: { sha: head } });
    expect((await ada.call('GET', '/repos/ada/hello/tags?limit=1&page=2')).items).toHaveLength(1);
  });

  it('are found by their names, encoded or not', async () => {
    expect((await ada.call('GET', '/repos/ada/hello/tags/light')).body).toMatchObject({ id: head });
    expect((await ada.call('GET', '/repos/ada/hello/tags/again/v1')).status).toBe(200);
    expect((await ada.call('GET', '/repos/ada/hello/tags/again%2Fv1')).status).toBe(200);
  });

  it.each(['none', 'again', 'main', 'of-a-file', 'v*', '...', '@%7B1%7D', 'v1.0%5E%7B%7D', '--help'])(
    'answer 404 for %s',
    async (name) => {
      expect((await ada.call('GET', `/repos/ada/hello/tags/${name}`)).status).toBe(404);
    },
  );

  it('by the id of the tag itself say who made it', async () => {
    const id = await git(tree, 'rev-parse', 'v1.0');
    const { body } = await ada.call('GET', `/repos/ada/hello/git/tags/${id}`);
    expect(body).toMatchObject({
      tag: 'v1.0',
      sha: id,
      message: 'Version one\n',
      tagger: { email: expect.any(String), date: expect.any(String) },
      object: { type: 'commit', sha: head },
      verification: { verified: false },
    });
    expect((await ada.call('GET', `/repos/ada/hello/git/tags/${head}`)).status).toBe(404);
  });
});

it('private repositories are not there for others, in the same words as for what is missing', async () => {
  const secret = await pushedRepository(ada, 'secret', scene.folder, { private: true });
  await git(secret, 'tag', 'v1');
  await git(secret, 'push', '-q', '--tags');
  for (const path of ['branches', 'branches/main', 'tags', 'tags/v1']) {
    expect((await ada.call('GET', `/repos/ada/secret/${path}`)).status).toBe(200);
    const hidden = await bob.call('GET', `/repos/ada/secret/${path}`);
    expect(hidden.status).toBe(404);
    expect(hidden.body.message).toBe(TEXT_OF_404);
    expect(hidden.text).toBe((await bob.call('GET', `/repos/ada/none/${path}`)).text);
    const anonymous = await fetch(`${scene.address}/api/v1/repos/ada/secret/${path}`);
    expect(anonymous.status).toBe(401);
  }
});

it('accounts are named by addresses that they show', async () => {
  const eve = scene.person('eve');
  await eve.call('GET', '/user');
  await commit(tree, { eve: 'e' }, 'by eve');
  await git(tree, 'commit', '-q', '--amend', '--no-edit', '--author', 'Eve <EVE@example.test>');
  await git(tree, 'push', '-q', 'origin', 'main');
  const named = async (person: Person) => {
    const { body } = await person.call('GET', '/repos/ada/hello/branches/main');
    return (body['commit'] as { author: { username: string } }).author.username;
  };
  expect(await named(ada)).toBe('eve');
  await scene.sql.run`update :schema.users set hides_email = true where login = 'eve'`;
  expect(await named(ada)).toBe('');
  expect(await named(eve)).toBe('eve');
});
