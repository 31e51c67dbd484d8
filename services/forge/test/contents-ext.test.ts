import { createHash } from 'node:crypto';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';

// Files and folders with as much of them as is asked for, and when they last changed.

const scene = useForge();
const oid = createHash('sha256').update('film').digest('hex');
const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 4\n`;
let ada: Person;
let eve: Person;
let tree: string;
let changed: string;

beforeAll(async () => {
  ada = scene.person('ada');
  eve = scene.person('eve');
  tree = await pushedRepository(ada, 'hello', scene.folder);
  await commit(
    tree,
    { 'clips/film.mp4': pointer, 'clips/notes': 'version 2\n' },
    'A film\n\nWith a second line',
  );
  await symlink(pointer.split('\n', 1).join(), join(tree, 'clips/link'));
  await git(tree, 'add', '.');
  const dates = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.test'];
  await git(tree, ...dates, 'commit', '-q', '--date=2020-01-02T03:04:05+02:00', '-m', 'A link');
  changed = await git(tree, 'rev-parse', 'HEAD');
  await git(tree, 'push', '-q', 'origin', 'HEAD:main');
});

const at = (path: string) => ada.call('GET', `/repos/ada/hello/${path}`);
const utc = async (format: string, file: string) =>
  `${new Date(await git(tree, 'log', '-1', `--format=${format}`, '--', file)).toISOString().slice(0, 19)}Z`;

describe('contents', () => {
  it('say when they last changed, in folders as well', async () => {
    const link = (await at('contents/clips/link')).body;
    expect(link).toMatchObject({ last_commit_sha: changed, last_author_date: '2020-01-02T01:04:05Z' });
    expect(link['last_committer_date']).toBe(await utc('%cI', 'clips/link'));
    const { items } = await at('contents/clips');
    expect(items.map((item) => item['last_author_date'])).toEqual([
      await utc('%aI', 'clips/film.mp4'),
      '2020-01-02T01:04:05Z',
      await utc('%aI', 'clips/notes'),
    ]);
    expect(Object.keys(items[0] ?? {})).not.toContain('lfs_oid');
    expect(Object.keys(items[0] ?? {})).not.toContain('last_commit_message');
  });

  it('say so of what is written over the API, too', async () => {
    const content = Buffer.from('new\n').toString('base64');
    const author = { name: 'Ada', email: 'ada@example.test' };
    const dates = { author: '2021-02-03T04:05:06Z', committer: '2022-02-03T04:05:06Z' };
    const body = { content, message: 'new', branch: 'main', new_branch: 'written', author, dates };
    const { body: made } = await ada.call('POST', '/repos/ada/hello/contents/new', body);
    const shown = (await at('contents/new?ref=written')).body;
    expect(shown).toMatchObject({ last_author_date: dates.author, last_committer_date: dates.committer });
    expect(made['content']).toMatchObject({
      last_author_date: dates.author,
      last_committer_date: dates.committer,
    });
  });
});

describe('contents-ext', () => {
  it('tells little of a file and of a folder when nothing is asked for', async () => {
    const { body: file } = await at('contents-ext/clips/film.mp4');
    const plain = (await at('contents/clips/film.mp4')).body;
    const bare = { content: null, encoding: null, last_commit_sha: null };
    const undated = { last_author_date: null, last_committer_date: null };
    expect(file).toEqual({ file_contents: { ...plain, ...bare, ...undated } });
    const { body: folder } = await at('contents-ext/clips/');
    const entries = (await at('contents/clips')).items.map((item) => ({ ...item, ...bare, ...undated }));
    expect(folder).toEqual({ dir_contents: entries });
    for (const root of ['contents-ext', 'contents-ext/']) {
      const names = ((await at(root)).body['dir_contents'] as { name: string }[]).map(({ name }) => name);
      expect(names).toEqual(['README.md', 'clips', 'lines.txt']);
    }
  });

  it('tells of a file what it is asked for', async () => {
    const includes = 'file_content,commit_metadata,commit_message,lfs_metadata';
    const { body } = await at(`contents-ext/clips/film.mp4?includes=${includes}&ref=main`);
    expect(body['file_contents']).toEqual({
      ...(await at('contents/clips/film.mp4?ref=main')).body,
      last_commit_message: 'A film\n\nWith a second line\n',
      lfs_oid: oid,
      lfs_size: 4,
    });
    const link = (await at('contents-ext/clips/link?includes=file_content,lfs_metadata')).body[
      'file_contents'
    ];
    expect(link).toMatchObject({ target: 'version https://git-lfs.github.com/spec/v1', content: null });
    expect(Object.keys(link ?? {})).not.toContain('lfs_oid');
  });

  it('tells of a folder what it is asked for, and never what is in its files', async () => {
    const includes = 'file_content,commit_message,lfs_metadata';
    const { body } = await at(`contents-ext/clips?includes=${includes}`);
    const shown = (body['dir_contents'] as Record<string, unknown>[]).map((entry) => [
      entry['name'],
      entry['content'],
      entry['last_commit_sha'],
      entry['last_commit_message'],
      entry['lfs_oid'],
      entry['lfs_size'],
    ]);
    expect(shown).toEqual([
      ['film.mp4', null, null, 'A film\n\nWith a second line\n', oid, 4],
      ['link', null, null, 'A link\n', undefined, undefined],
      ['notes', null, null, 'A film\n\nWith a second line\n', undefined, undefined],
    ]);
  });

  it('refuses parts that nobody knows, and says which there are', async () => {
    for (const includes of ['content', 'file_content,all', `${'x'.repeat(3000)}`]) {
      const refused = await at(`contents-ext/README.md?includes=${includes}`);
      expect([refused.status, refused.body['message']]).toEqual([
        400,
        expect.stringContaining('commit_message'),
      ]);
      expect(refused.text.length).toBeLessThan(500);
    }
    expect((await at('contents-ext/README.md?includes=,')).status).toBe(200);
  });

  it('is as hidden as the repository', async () => {
    await ada.call('PATCH', '/repos/ada/hello', { private: true });
    expect((await eve.call('GET', '/repos/ada/hello/contents-ext/README.md')).status).toBe(404);
    expect((await at('contents-ext/missing')).status).toBe(404);
    expect((await at('contents-ext/README.md?ref=gone')).status).toBe(404);
    expect((await at('contents-ext/README.md')).status).toBe(200);
  });
});
