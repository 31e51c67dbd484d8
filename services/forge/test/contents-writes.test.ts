import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  commit,
  type Person,
  personWith,
  pushBranch,
  pushedRepository,
  type Reply,
  useForge,
} from './forge.ts';

const scene = useForge();
let ada: Person;
let writer: Person;
let reader: Person;
let stranger: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  [ada, writer, reader, stranger] = ['ada', 'wes', 'ria', 'sam'].map((name) => scene.person(name)) as [
    Person,
    Person,
    Person,
    Person,
  ];
  for (const person of [ada, writer, reader, stranger]) await person.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder, { private: true });
  bare = await scene.bare('ada', 'work');
  for (const [login, level] of [
    ['wes', 2],
    ['ria', 1],
  ])
    await scene.sql.run`
      insert into :schema.collaborators (repository_id, user_id, level)
      select r.id, u.id, ${level} from :schema.repositories r, :schema.users u
      where r.name = 'work' and u.login = ${login}`;
});

const base64 = (text: string) => Buffer.from(text).toString('base64');
const contents = '/repos/ada/work/contents';
const tip = (branch = 'main') => git(bare, 'rev-parse', branch);
const show = (path: string, at = 'main') => git(bare, 'show', `${at}:${path}`);
const shaOf = (path: string, at = 'main') => git(bare, 'rev-parse', `${at}:${path}`);
const objects = () => git(bare, 'count-objects', '-v');

/** A refusal: its status, its words, and that nothing at all was written. */
async function refused(ask: () => Promise<Reply>, status: number, message?: string | RegExp): Promise<void> {
  const before = [await git(bare, 'show-ref'), await objects()];
  const reply = await ask();
  expect({ status: reply.status, text: reply.text }).toMatchObject({ status });
  if (message !== undefined) expect(reply.body.message).toMatch(message);
  expect([await git(bare, 'show-ref'), await objects()]).toEqual(before);
  expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
}

describe('one file', () => {
  it('is added, with folders on the way, and the commit says who and when', async () => {
    const parent = await tip();
    const { status, body } = await ada.call('POST', `${contents}/docs/deep/a b.md`, {
      content: base64('hello\n'),
      message: 'Say hello',
      author: { name: 'Grace', email: 'grace@example.test' },
      dates: { author: '2020-01-02T03:04:05Z', committer: '2021-01-02T03:04:05+02:00' },
      signoff: true,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      content: {
        name: 'a b.md',
        path: 'docs/deep/a b.md',
        type: 'file',
        size: 6,
        encoding: 'base64',
        content: base64('hello\n'),
        sha: await shaOf('docs/deep/a b.md'),
      },
      commit: {
        sha: await tip(),
        message: 'Say hello\n\nSigned-off-by: Grace <grace@example.test>\n',
        author: { name: 'Grace', email: 'grace@example.test', date: '2020-01-02T03:04:05Z' },
        committer: { name: 'Grace', date: '2021-01-02T01:04:05Z' },
        parents: [{ sha: parent }],
      },
      verification: { verified: false },
    });
    expect(await show('docs/deep/a b.md')).toBe('hello');
    expect(await show('README.md')).toBe('# work');
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('is changed by who knows what was there, keeping its mode', async () => {
    await git(tree, 'pull', '-q', 'origin', 'main');
    await commit(tree, { 'run.sh': 'echo one\n' }, 'script');
    await git(tree, 'update-index', '--chmod=+x', 'run.sh');
    await git(tree, 'commit', '-q', '-m', 'executable');
    await git(tree, 'push', '-q', 'origin', 'main');
    const sha = await shaOf('run.sh');
    const change = { content: base64('echo two\n'), sha };
    const reply = await writer.call('PUT', `${contents}/run.sh`, change);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ commit: { message: 'Update run.sh\n', author: { name: 'wes' } } });
    expect(await git(bare, 'ls-tree', 'main', 'run.sh')).toMatch(/^100755 /);
    await refused(() => writer.call('PUT', `${contents}/run.sh`, change), 422, /sha does not match/);
    await refused(() => writer.call('PUT', `${contents}/run.sh`, { content: '' }), 422, /SHA.*Required/);
    const none = { ...change, content: base64('x') };
    await refused(() => writer.call('PUT', `${contents}/none.sh`, none), 404);
  });

  it('PUT without a sha adds what is not there, and moves with from_path', async () => {
    const added = await ada.call('PUT', `${contents}/new.txt`, { content: base64('new') });
    expect(added.status).toBe(201);
    const sha = await shaOf('new.txt');
    const moved = await ada.call('PUT', `${contents}/moved/new.txt`, {
      from_path: 'new.txt',
      sha,
      content: '',
    });
    expect(moved).toMatchObject({ status: 200, body: { content: { path: 'moved/new.txt', sha, size: 3 } } });
    expect(await shaOf('moved/new.txt')).toBe(sha);
    await expect(shaOf('new.txt')).rejects.toThrow();
    await refused(
      () => ada.call('PUT', `${contents}/README.md`, { from_path: 'moved/new.txt', sha, content: '' }),
      422,
      /already exists/,
    );
    // What is not there has nothing that could be moved.
    await refused(
      () => ada.call('PUT', `${contents}/from-nowhere`, { from_path: 'nowhere', content: '' }),
      404,
      'repository file does not exist [path: nowhere]',
    );
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('is deleted with a body in a DELETE, and its folder when that is empty then', async () => {
    const sha = await shaOf('moved/new.txt');
    await refused(() => ada.call('DELETE', `${contents}/moved/new.txt`, {}), 422, /Sha.*Required/i);
    const folder = await shaOf('moved');
    await refused(() => ada.call('DELETE', `${contents}/moved`, { sha: folder }), 422, /no file/);
    const reply = await ada.call('DELETE', `${contents}/moved/new.txt`, { sha });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ content: null, commit: { message: 'Delete moved/new.txt\n' } });
    await expect(shaOf('moved')).rejects.toThrow();
    await refused(() => ada.call('DELETE', `${contents}/moved/new.txt`, { sha }), 404);
  });

  it('goes to a new branch when asked, and leaves the other alone', async () => {
    const before = await tip();
    const to = { branch: 'main', new_branch: 'feature/from-api', content: base64('x') };
    expect((await ada.call('POST', `${contents}/on-branch.txt`, to)).status).toBe(201);
    expect(await tip()).toBe(before);
    expect(await git(bare, 'rev-parse', 'feature/from-api^')).toBe(before);
    await refused(() => ada.call('POST', `${contents}/again.txt`, to), 422, /branch already exists/);
    const nowhere = { branch: 'no-such', content: base64('x') };
    await refused(() => ada.call('POST', `${contents}/x.txt`, nowhere), 404, /branch does not exist/);
    const odd = { branch: 'main~1', content: base64('x') };
    await refused(() => ada.call('POST', `${contents}/x.txt`, odd), 422, /GitRefName/);
    // `?ref=HEAD` is the default branch.
    const blocked = { branch: 'main', new_branch: 'main/sub', content: base64('x') };
    const reply = await ada.call('POST', `${contents}/blocked.txt`, blocked);
    expect({ status: reply.status, message: reply.body.message }).toEqual({
      status: 422,
      message: 'branch already exists [name: main/sub]',
    });
    await expect(tip('main/sub')).rejects.toThrow();
    const hidden = { branch: 'main', new_branch: 'HEAD', content: base64('x') };
    await refused(() => ada.call('POST', `${contents}/x.txt`, hidden), 422, /^\[NewBranch\]: GitRefName$/);
  });

  it('is the first commit of an empty repository', async () => {
    await ada.call('POST', '/user/repos', { name: 'fresh' });
    const reply = await ada.call('POST', '/repos/ada/fresh/contents/README.md', { content: base64('hi') });
    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({ commit: { parents: [], message: 'Add README.md\n' } });
    expect((await ada.call('GET', '/repos/ada/fresh')).body).toMatchObject({ empty: false });
    await git(scene.folder, 'clone', '-q', ada.remote('ada/fresh'), 'fresh');
  });

  it('moves pull requests along', async () => {
    await pushBranch(tree, 'topic', { 'topic.txt': 'one\n' });
    const pull = { head: 'topic', base: 'main', title: 'Topic' };
    const { number } = (await ada.call('POST', '/repos/ada/work/pulls', pull)).body;
    const change = { branch: 'topic', content: base64('two\n'), sha: await shaOf('topic.txt', 'topic') };
    expect((await ada.call('PUT', `${contents}/topic.txt`, change)).status).toBe(200);
    const { head } = (await ada.call('GET', `/repos/ada/work/pulls/${number}`)).body;
    expect(head.sha).toBe(await tip('topic'));
    expect(await tip(`refs/pull/${number}/head`)).toBe(head.sha);
  });
});

describe('several files', () => {
  it('become one commit, in their order', async () => {
    const before = await tip();
    const { status, body } = await ada.call('POST', contents, {
      message: 'Rearrange',
      files: [
        { operation: 'create', path: 'box', content: base64('a file\n') },
        { operation: 'update', path: 'box2/file', from_path: 'lines.txt', sha: await shaOf('lines.txt') },
        { operation: 'delete', path: 'README.md', sha: await shaOf('README.md') },
        { operation: 'create', path: 'README.md/now-a-folder', content: base64('yes') },
      ],
    });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        files: [{ path: 'box' }, { path: 'box2/file' }, null, { path: 'README.md/now-a-folder' }],
        commit: { message: 'Rearrange\n', parents: [{ sha: before }] },
      },
    });
    expect(await git(bare, 'ls-tree', '--name-only', 'main', 'README.md/', 'box', 'lines.txt')).toBe(
      'README.md/now-a-folder\nbox',
    );
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('are uploaded whether they are there or not, and renamed as they are', async () => {
    const [kept, before] = [await shaOf('box'), await tip()];
    const { status, body } = await ada.call('POST', contents, {
      files: [
        { operation: 'upload', path: 'up/new', content: base64('new') },
        { operation: 'upload', path: 'topic.txt', content: base64('over\n') },
        { operation: 'upload', path: 'topic.txt', content: base64('over again\n') },
        { operation: 'rename', path: 'up/box', from_path: 'box', content: base64('left out') },
        { operation: 'upload', path: 'brief', content: base64('brief') },
        { operation: 'rename', path: 'up/brief', from_path: 'brief' },
      ],
    });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        files: [
          { path: 'up/new' },
          { path: 'topic.txt' },
          { path: 'topic.txt' },
          { path: 'up/box', sha: kept, size: 7 },
          { path: 'brief' },
          { path: 'up/brief', size: 5 },
        ],
        commit: { parents: [{ sha: before }] },
      },
    });
    expect(await show('up/new')).toBe('new');
    expect(await show('topic.txt')).toBe('over again');
    await expect(shaOf('box')).rejects.toThrow();
    const rename = { operation: 'rename', path: 'box', from_path: 'up/box' };
    for (const [file, answer, message] of [
      [{ operation: 'rename', path: 'box' }, 422, '[FromPath]: Required'],
      [{ ...rename, from_path: 'nowhere' }, 404, 'repository file does not exist [path: nowhere]'],
      [{ ...rename, path: 'topic.txt' }, 422, 'repository file already exists [path: topic.txt]'],
      [{ ...rename, sha: before }, 422, /sha does not match/],
      [
        { operation: 'upload', path: 'topic.txt', content: base64('x'), sha: before },
        422,
        /sha does not match/,
      ],
      [{ operation: 'upload', path: 'up', content: base64('x') }, 422, 'up is no file'],
    ] as const)
      await refused(() => ada.call('POST', contents, { files: [file] }), answer, message);
    expect((await ada.call('POST', contents, { files: [rename] })).status).toBe(201);
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('are all or none', async () => {
    const files = [
      { operation: 'create', path: 'fine', content: base64('fine') },
      { operation: 'delete', path: 'not-there', sha: await shaOf('box') },
    ];
    await refused(() => ada.call('POST', contents, { files }), 404);
    await refused(() => ada.call('POST', contents, { files: [] }), 422);
    await refused(() => ada.call('POST', contents, { files: [{ operation: 'chmod', path: 'box' }] }), 422);
  });
});

describe('refused before anything is written', () => {
  it.each([
    '..%2Fx',
    '%2E%2E/x',
    'a%2F..%2Fb',
    '.git/config',
    '.GIT/config',
    'sub/.Git/hooks/pre-commit',
    'git~1/config',
    '.git./config',
    '.git%20/config',
    '.g%E2%80%8Cit/config',
    'a%5C.git%5Cconfig',
    '.git::$INDEX_ALLOCATION/config',
    'a//b',
    'a%2F',
    'line%0Abreak',
    'box/under-a-file',
    'docs',
    'docs/deep',
    `${'a'.repeat(501)}`,
    `${'b'.repeat(260)}`,
  ])('the path %s', async (path) => {
    const body = { content: base64('x') };
    const call = () => ada.call('POST', `${contents}/${path}`, body);
    const reply = await call();
    // What a client resolves by itself never arrives as this route.
    expect([404, 405, 422]).toContain(reply.status);
    await refused(call, reply.status);
    const files = [{ operation: 'create', path: decodeURIComponent(path), ...body }];
    await refused(() => ada.call('POST', contents, { files }), 422);
  });

  it('many files in very many folders', async () => {
    const files = (many: number, deep: number) =>
      Array.from({ length: many }, (_, n) => {
        return { operation: 'create', path: `far/${n}/${'a/'.repeat(deep)}f`, content: base64('x') };
      });
    await refused(() => ada.call('POST', contents, { files: files(1000, 18) }), 422, /20000 names/);
    const made = await ada.call('POST', contents, { files: files(10, 200), new_branch: 'far' });
    expect(made.status, made.text).toBe(201);
  });

  it('NUL, in the path, the text and the names', async () => {
    await refused(() => ada.call('POST', `${contents}/a%00b`, { content: '' }), 404);
    const file = { operation: 'create', path: 'a\0b', content: '' };
    await refused(() => ada.call('POST', contents, { files: [file] }), 422);
    await refused(() => ada.call('POST', `${contents}/a`, { content: '', message: 'a\0b' }), 422);
    await refused(() => ada.call('POST', `${contents}/a`, { content: '', author: { name: 'a\0b' } }), 422);
  });

  it.each(['not base64!', 'YQ', 'Y===', '====', 'YQ==YQ=='])('the content %s', async (content) => {
    await refused(() => ada.call('POST', `${contents}/b64.txt`, { content }), 422, /base64/);
  });

  it('an existing file, times git cannot keep, and modules that would run code', async () => {
    await refused(() => ada.call('POST', `${contents}/box`, { content: '' }), 422, /already exists/);
    const dates = { author: '1969-12-31T23:59:59Z' };
    await refused(() => ada.call('POST', `${contents}/d.txt`, { content: '', dates }), 422, /1970/);
    for (const text of [
      '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n',
      '[submodule "../../x"]\n\tpath = x\n\turl = https://example.test/x\n',
      '[submodule "x"]\n\tpath = -x\n\turl = https://example.test/x\n',
    ]) {
      const body = { content: base64(text) };
      await refused(() => ada.call('POST', `${contents}/.gitmodules`, body), 422);
      await refused(() => ada.call('POST', `${contents}/.GitModules`, body), 422);
    }
  });

  it('for those who may not write: 403 for readers, 404 for strangers, 423 when archived', async () => {
    const body = { content: base64('x') };
    await refused(() => reader.call('POST', `${contents}/mine.txt`, body), 403);
    await refused(
      () => reader.call('POST', contents, { files: [{ operation: 'create', path: 'm', ...body }] }),
      403,
    );
    await refused(() => stranger.call('POST', `${contents}/mine.txt`, body), 404);
    const nobody = personWith('nobody', 'nonsense', () => scene.address);
    await refused(() => nobody.call('POST', `${contents}/mine.txt`, body), 401);
    const { sha1 } = (
      await ada.call('POST', '/users/ada/tokens', { name: 'ro', scopes: ['read:repository'] })
    ).body;
    const readOnly = personWith('ada', sha1, () => scene.address);
    if (sha1 !== undefined) await refused(() => readOnly.call('POST', `${contents}/mine.txt`, body), 403);
    await scene.sql.run`update :schema.repositories set archived = true where name = 'work'`;
    await refused(() => ada.call('POST', `${contents}/mine.txt`, body), 423);
    await scene.sql.run`update :schema.repositories set archived = false where name = 'work'`;
  });
});

describe('writers at the same time', () => {
  it('of different files all get in, one after the other', async () => {
    const before = Number(await git(bare, 'rev-list', '--count', 'main'));
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        ada.call('POST', `${contents}/many/${index}.txt`, { content: base64(`${index}`) }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201));
    expect(Number(await git(bare, 'rev-list', '--count', 'main'))).toBe(before + 12);
    expect((await git(bare, 'ls-tree', '--name-only', 'main', 'many/')).split('\n')).toHaveLength(12);
  });

  it('of the same file: one gets in, the others are told', async () => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        ada.call('POST', `${contents}/contested.txt`, { content: base64(`${index}`) }),
      ),
    );
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(201);
    // Who looks when it is there already gets 422.
    expect(statuses.slice(1).every((status) => status === 409 || status === 422)).toBe(true);
    const winner = replies.findIndex(({ status }) => status === 201);
    expect(await show('contested.txt')).toBe(`${winner}`);
  });

  it('and pushes: nobody loses a commit', async () => {
    const clone = join(scene.folder, 'racing');
    await git(scene.folder, 'clone', '-q', ada.remote('ada/work'), clone);
    const before = Number(await git(bare, 'rev-list', '--count', 'main'));
    const pushing = (async () => {
      for (let round = 0; round < 5; round++) {
        await commit(clone, { [`pushed-${round}.txt`]: `${round}` }, `pushed ${round}`);
        for (;;) {
          const done = await git(clone, 'push', '-q', 'origin', 'HEAD:main').catch(() => undefined);
          if (done !== undefined) break;
          await git(clone, 'pull', '-q', '--rebase', 'origin', 'main');
        }
      }
    })();
    const statuses: number[] = [];
    for (let round = 0; round < 10; round++)
      statuses.push(
        (await ada.call('POST', `${contents}/api-${round}.txt`, { content: base64('x') })).status,
      );
    await pushing;
    expect(statuses).toEqual(statuses.map(() => 201));
    expect(Number(await git(bare, 'rev-list', '--count', 'main'))).toBe(before + 15);
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });
});
