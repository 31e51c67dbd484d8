import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { askDuring } from './ask-during.ts';
import { type Body, type Person, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

// What files of releases do not share with those of issues (attachments.test.ts).

const LIMIT = 200_000;
const scene = useForge({
  environment: {
    FORGE_RELEASE_FILE_MAX_BYTES: String(LIMIT),
    FORGE_ATTACHMENT_MAX_BYTES: '10',
    FORGE_ATTACHMENT_TYPES: '.txt',
  },
});
const at = '/repos/ada/tool/releases';
let ada: Person;
let ria: Person;
let release: number;
let draft: number;
let assets: string;
beforeAll(async () => {
  [ada, ria] = ['ada', 'ria'].map((name) => scene.person(name)) as [Person, Person];
  await ria.call('GET', '/user');
  await pushedRepository(ada, 'tool', scene.folder);
  release = (await ada.call('POST', at, { tag_name: 'v1' })).body.id;
  draft = (await ada.call('POST', at, { tag_name: 'v2', draft: true })).body.id;
  assets = `${at}/${release}/assets`;
});

interface Sent {
  status: number;
  body: Body;
}
async function post(
  who: Person,
  path: string,
  body: FormData | Buffer | string,
  type?: string,
): Promise<Sent> {
  const answer = await fetch(`${scene.address}/api/v1${path}`, {
    method: 'POST',
    body: body as string,
    headers: {
      authorization: `Bearer ${who.token}`,
      ...(type === undefined ? {} : { 'content-type': type }),
    },
  });
  return { status: answer.status, body: (await answer.json()) as Body };
}
function send(who: Person, path: string, content: string | Buffer, name: string, field = 'attachment') {
  const form = new FormData();
  form.append(field, new Blob([content as string]), name);
  return post(who, path, form);
}
const bytes = (path: string, content: Buffer | string, type = 'application/octet-stream') =>
  post(ada, path, content, type);
const download = (who: Person | undefined, url: unknown) =>
  fetch(String(url), { headers: who === undefined ? {} : { authorization: `Bearer ${who.token}` } });
const files = async () => (await readdir(join(scene.dataFolder, 'attachments')).catch(() => [])).sort();
const stored = async () => [await files(), await rowsOf(scene, 'attachments')];

describe('a file of a release', () => {
  it('comes as a form or bare, with any ending, and is listed, read, renamed and removed', async () => {
    const content = Buffer.alloc(LIMIT, 7);
    const inForm = await send(ada, assets, content, 'tool-linux.tar.gz');
    const bare = await bytes(`${assets}?name=tool.exe`, content);
    expect([inForm.status, bare.status]).toEqual([201, 201]);
    expect(bare.body).toMatchObject({ name: 'tool.exe', size: LIMIT, download_count: 0 });
    const both = [inForm.body, bare.body];
    expect((await ria.call('GET', assets)).items).toEqual(both);
    expect((await ria.call('GET', `${at}/${release}`)).body['assets']).toEqual(both);
    expect((await ria.call('GET', at)).items[0]?.['assets']).toEqual(both);
    for (const { id, browser_download_url: url } of both) {
      expect((await ria.call('GET', `${assets}/${id}`)).status).toBe(200);
      expect(Buffer.from(await (await download(ria, url)).arrayBuffer())).toEqual(content);
    }
    const renamed = await ada.call('PATCH', `${assets}/${bare.body.id}`, { name: 'tool.zip' });
    expect([renamed.status, renamed.body]).toMatchObject([201, { name: 'tool.zip', download_count: 1 }]);
    for (const { id } of both) expect((await ada.call('DELETE', `${assets}/${id}`)).status).toBe(204);
    expect(await stored()).toEqual([[], [[]]]);
  });

  it.each(['application/gzip', 'application/json', 'text/plain'])('comes bare as %s, too', async (type) => {
    const { status, body } = await bytes(`${assets}?name=a.b`, '{"not":"read"}', type);
    expect([status, body['size']]).toEqual([201, 14]);
    await ada.call('DELETE', `${assets}/${body.id}`);
  });

  it('goes with its release, and the files of others stay', async () => {
    const other = (await ada.call('POST', at, { tag_name: 'other' })).body.id;
    const kept = await bytes(`${assets}?name=kept`, 'kept');
    await bytes(`${at}/${other}/assets?name=gone`, 'gone');
    expect((await ada.call('DELETE', `${at}/${other}`)).status).toBe(204);
    expect(await files()).toEqual([String(kept.body.id)]);
    await scene.restart();
    expect(await files()).toEqual([String(kept.body.id)]);
    await ada.call('DELETE', `${assets}/${kept.body.id}`);
  });

  it('of a draft is for writers only, until that is published', async () => {
    const { body } = await bytes(`${at}/${draft}/assets?name=early`, 'early');
    const url = body['browser_download_url'];
    expect((await download(ada, url)).status).toBe(200);
    for (const path of [`${at}/${draft}/assets`, `${at}/${draft}/assets/${body.id}`])
      expect((await ria.call('GET', path)).status).toBe(404);
    expect((await download(ria, url)).status).toBe(404);
    expect((await download(undefined, url)).status).toBe(401);
    await ada.call('PATCH', `${at}/${draft}`, { draft: false });
    expect(await (await download(ria, url)).text()).toBe('early');
    await ada.call('DELETE', `${at}/${draft}/assets/${body.id}`);
  });

  it('is found by the names of its release and its own, too', async () => {
    const newest = (await ada.call('POST', at, { tag_name: 'v7' })).body.id;
    const slashed = (await ada.call('POST', at, { tag_name: 'tools/v3', prerelease: true })).body.id;
    await bytes(`${at}/${newest}/assets?name=a%20b.txt`, 'first');
    await bytes(`${at}/${newest}/assets?name=a%20b.txt`, 'second');
    await bytes(`${at}/${slashed}/assets?name=c`, 'slashed');
    const hidden = await ada.call('POST', at, { tag_name: 'v9', draft: true });
    await bytes(`${at}/${hidden.body.id}/assets?name=d`, 'hidden');
    const page = `${scene.address}/ada/tool/releases/download`;
    const at200 = async (who: Person, path: string) => {
      const answer = await download(who, `${page}/${path}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
      return await answer.text();
    };
    expect(await at200(ria, 'v7/a%20b.txt')).toBe('second');
    expect(await at200(ria, 'latest/a%20b.txt')).toBe('second');
    expect([await at200(ria, 'tools/v3/c'), await at200(ria, 'tools%2Fv3/c')]).toEqual([
      'slashed',
      'slashed',
    ]);
    expect(await at200(ada, 'v9/d')).toBe('hidden');
    const missing = ['v9/d', 'v7/c', 'v7/', 'v7', '', '/a', 'v8/a', 'v7/..%2f..%2fx', 'v7%00/a', 'latest/c'];
    for (const path of missing)
      expect([path, (await download(ria, `${page}/${path}`)).status]).toEqual([path, 404]);
    expect((await download(ria, `${scene.address}/ada/nothing/releases/download/v1/a`)).status).toBe(404);
    // A tag of that name is what is meant.
    await ada.call('POST', at, { tag_name: 'latest' });
    expect((await download(ria, `${page}/latest/a%20b.txt`)).status).toBe(404);
    for (const tag of ['tools/v3', 'v9', 'v7', 'latest']) await ada.call('DELETE', `${at}/tags/${tag}`);
    expect(await stored()).toEqual([[], [[]]]);
  });

  it('is read with a token for repositories, and not with one for issues', async () => {
    const { body } = await bytes(`${assets}?name=a`, 'a');
    const withScopes = async (scope: string) => {
      const made = await ada.call('POST', '/users/ada/tokens', { name: scope, scopes: [scope] });
      const headers = { authorization: `token ${made.body.sha1}` };
      return (await fetch(String(body['browser_download_url']), { headers })).status;
    };
    expect(await withScopes('read:repository')).toBe(200);
    expect(await withScopes('write:issue')).toBe(403);
    await ada.call('DELETE', `${assets}/${body.id}`);
  });
});

describe('refused, and nothing is left of it', () => {
  it('from those who may not, and where nothing is', async () => {
    const before = await stored();
    expect((await send(ria, assets, 'x', 'a')).status).toBe(403);
    expect((await post(ria, `${assets}?name=a`, 'x', 'application/octet-stream')).status).toBe(403);
    for (const id of ['0', '999', 'latest', '__proto__', '99999999999999999999'])
      expect((await bytes(`${at}/${id}/assets?name=a`, 'x')).status).toBe(404);
    await ada.call('PATCH', '/repos/ada/tool', { archived: true });
    expect((await bytes(`${assets}?name=a`, 'x')).status).toBe(423);
    await ada.call('PATCH', '/repos/ada/tool', { archived: false });
    expect(await stored()).toEqual(before);
  });

  it('too large, without a name, without a file, or too many', async () => {
    const before = await stored();
    expect((await bytes(`${assets}?name=a`, Buffer.alloc(LIMIT + 1))).status).toBe(413);
    expect((await bytes(`${assets}?name=a`, Buffer.alloc(LIMIT * 40))).status).toBe(413);
    expect((await send(ada, assets, Buffer.alloc(LIMIT + 1), 'a')).status).toBe(413);
    for (const path of [assets, `${assets}?name=`, `${assets}?name=%00`]) {
      const { status, body } = await bytes(path, 'x');
      expect([status, body.message]).toEqual([400, expect.stringContaining('name')]);
    }
    expect((await send(ada, assets, 'x', 'a', 'file')).status).toBe(400);
    expect((await ada.call('POST', `${assets}?name=a`)).status).toBe(400);
    expect(await stored()).toEqual(before);
    await scene.sql.run`
      insert into :schema.attachments (uuid, repository_id, release_id, name, size_bytes, stored, created_at)
      select gen_random_uuid(), repository_id, id, 'x', 0, true, now() from :schema.releases, generate_series(1, 200)
      where id = ${release}`;
    expect((await bytes(`${assets}?name=a`, 'x')).status).toBe(422);
    await scene.sql.run`delete from :schema.attachments`;
    expect(await stored()).toEqual(before);
  });

  it('when the client goes away in the middle', async () => {
    const sending = httpRequest(new URL(`${scene.address}/api/v1${assets}?name=a`), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ada.token}`,
        'content-type': 'application/octet-stream',
        'content-length': '100000',
      },
    });
    sending.on('error', () => {});
    sending.write('x'.repeat(50_000));
    await vi.waitFor(async () => expect(await files()).toHaveLength(1), { timeout: 40_000 });
    sending.destroy();
    await vi.waitFor(async () => expect(await stored()).toEqual([[], [[]]]), { timeout: 40_000 });
  });

  it('of another release or an issue, by its id', async () => {
    const { body } = await bytes(`${assets}?name=a.txt`, 'x');
    const issue = (await ada.call('POST', '/repos/ada/tool/issues', { title: 'I' })).body.number;
    const ofIssue = await send(ada, `/repos/ada/tool/issues/${issue}/assets`, 'x', 'a.txt');
    const before = await stored();
    for (const path of [
      `${at}/${draft}/assets/${body.id}`,
      `/repos/ada/tool/issues/${issue}/assets/${body.id}`,
      `${assets}/${ofIssue.body.id}`,
    ])
      for (const method of ['GET', 'PATCH', 'DELETE'])
        expect(
          (await ada.call(method, path, method === 'PATCH' ? { name: 'b.txt' } : undefined)).status,
        ).toBe(404);
    // Issues take forms only, and smaller ones.
    expect((await bytes(`/repos/ada/tool/issues/${issue}/assets?name=a.txt`, 'x')).status).toBe(400);
    expect((await send(ada, `/repos/ada/tool/issues/${issue}/assets`, 'x'.repeat(11), 'a.txt')).status).toBe(
      413,
    );
    expect(await stored()).toEqual(before);
  });
});

it('a file that is complete in the moment in which its release is deleted does not stay on the disk', async () => {
  const { id } = (await ada.call('POST', at, { tag_name: 'v3', draft: true })).body;
  const row = await scene.sql.row<{ id: number }>`
    insert into :schema.attachments
      (uuid, repository_id, release_id, uploader_id, name, size_bytes, created_at)
    select gen_random_uuid(), repository_id, id, (select id from :schema.users where login = 'ada'), 'late.txt', 0, now() from :schema.releases where id = ${id}
    returning id`;
  const folder = join(scene.dataFolder, 'attachments');
  await mkdir(folder, { recursive: true });
  const file = join(folder, String(row?.id));
  await writeFile(file, 'late');
  const answer = await askDuring(
    scene,
    (tx) => tx.run`update :schema.attachments set stored = true where id = ${row?.id}`,
    () => ada.call('DELETE', `${at}/${id}`),
  );
  expect(answer.status, answer.text).toBe(204);
  expect(await scene.sql.rows`select id from :schema.attachments where id = ${row?.id}`).toEqual([]);
  await expect(readFile(file)).rejects.toThrow('ENOENT');
});
