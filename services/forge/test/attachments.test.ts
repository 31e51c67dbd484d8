import { mkdir, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type Body, type Person, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { rowsOf } from './rows-of.ts';

const LIMIT = 200_000;
const scene = useForge({
  environment: { FORGE_ATTACHMENT_MAX_BYTES: String(LIMIT), FORGE_ATTACHMENT_TYPES: '.txt,.png,.html' },
});
let ada: Person;
let rob: Person;
let eve: Person;
let issue: number;
let byRob: number;
let comment: number;
beforeAll(async () => {
  [ada, rob, eve] = ['ada', 'rob', 'eve'].map((name) => scene.person(name)) as [Person, Person, Person];
  for (const person of [rob, eve]) await person.call('GET', '/user');
  await ada.call('POST', '/user/repos', { name: 'tools' });
  await ada.call('POST', '/user/repos', { name: 'secret', private: true });
  issue = (await ada.call('POST', `${at}`, { title: 'A' })).body.number;
  byRob = (await rob.call('POST', `${at}`, { title: 'R' })).body.number;
  comment = (await rob.call('POST', `${at}/${issue}/comments`, { body: 'c' })).body.id;
  await ada.call('POST', '/repos/ada/secret/issues', { title: 'S' });
  await recordHappenings(scene);
});

const at = '/repos/ada/tools/issues';
interface Sent {
  status: number;
  body: Body;
}
async function send(
  who: Person,
  path: string,
  content: string | Buffer,
  name = 'a.txt',
  field = 'attachment',
): Promise<Sent> {
  const form = new FormData();
  form.append('note', 'ignored');
  form.append(field, new Blob([content as string]), name);
  const answer = await fetch(`${scene.address}/api/v1${path}`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${who.token}` },
  });
  return { status: answer.status, body: (await answer.json()) as Body };
}
const download = (who: Person | undefined, url: string) =>
  fetch(url, { headers: who === undefined ? {} : { authorization: `Bearer ${who.token}` } });
const files = async () => (await readdir(join(scene.dataFolder, 'attachments')).catch(() => [])).sort();
const rows = () => scene.sql.rows<{ id: number }>`select * from :schema.attachments order by id`;
/** Rows and files, which a refusal leaves as they are. */
const stored = async () => ({ files: await files(), rows: await rows() });

describe('an attachment', () => {
  it.each(['issue', 'comment'])('of an %s is sent, listed, read, renamed and removed', async (kind) => {
    const path = kind === 'issue' ? `${at}/${issue}/assets` : `${at}/comments/${comment}/assets`;
    const bytes = Buffer.from([0, 255, 10, 13, 0x89]);
    const { status, body } = await send(ada, path, bytes, 'x.png');
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toEqual({
      id: body.id,
      name: 'x.png',
      size: 5,
      download_count: 0,
      created_at: expect.stringMatching(/Z$/),
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      browser_download_url: `${scene.address}/attachments/${String(body['uuid'])}`,
    });
    expect((await rob.call('GET', path)).items).toEqual([body]);
    expect((await rob.call('GET', `${path}/${body.id}`)).body).toEqual(body);
    if (kind === 'comment') {
      expect((await rob.call('GET', `${at}/comments/${comment}`)).body['assets']).toEqual([body]);
      expect((await rob.call('GET', `${at}/${issue}/comments`)).items[0]?.['assets']).toEqual([body]);
    }
    const answer = await download(rob, String(body['browser_download_url']));
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="x.png"; filename*=UTF-8''x.png`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'content-length': '5',
    });
    const renamed = await ada.call('PATCH', `${path}/${body.id}`, { name: '../<b>.txt' });
    expect([renamed.status, renamed.body]).toMatchObject([201, { name: '<b>.txt', download_count: 1 }]);
    expect((await ada.call('DELETE', `${path}/${body.id}`)).status).toBe(204);
    expect((await ada.call('DELETE', `${path}/${body.id}`)).status).toBe(404);
    expect((await download(rob, String(body['browser_download_url']))).status).toBe(404);
    expect(await stored()).toEqual({ files: [], rows: [] });
  });

  it('is sent in parts, not read for its headers, and not sent again to whoever has it', async () => {
    const { body } = await send(ada, `${at}/${issue}/assets`, 'abcdefghij', 'x.txt');
    const url = String(body['browser_download_url']);
    const ask = async (headers: Record<string, string> = {}, method = 'GET') => {
      const answer = await fetch(url, {
        method,
        headers: { authorization: `Bearer ${rob.token}`, ...headers },
      });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    };
    const whole = await ask();
    expect([whole.status, whole.text, whole.headers.get('accept-ranges')]).toEqual([
      200,
      'abcdefghij',
      'bytes',
    ]);
    const [etag, changed] = ['etag', 'last-modified'].map((name) => whole.headers.get(name) ?? '') as [
      string,
      string,
    ];
    const counted = async () =>
      (await rob.call('GET', `${at}/${issue}/assets/${body.id}`)).body['download_count'];
    expect(await counted()).toBe(1);
    const head = await ask({}, 'HEAD');
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '10']);
    for (const [range, status, text, told] of [
      ['bytes=4-', 206, 'efghij', 'bytes 4-9/10'],
      ['bytes=2-3', 206, 'cd', 'bytes 2-3/10'],
      ['bytes=-3', 206, 'hij', 'bytes 7-9/10'],
      ['bytes=5-999', 206, 'fghij', 'bytes 5-9/10'],
      ['bytes=10-', 416, '', 'bytes */10'],
    ] as const) {
      const part = await ask({ range });
      expect([range, part.status, part.text, part.headers.get('content-range')]).toEqual([
        range,
        status,
        text,
        told,
      ]);
      if (status === 206) expect(part.headers.get('content-disposition')).toContain('x.txt');
    }
    // The rest of another file is not sent for the rest of this one.
    expect((await ask({ range: 'bytes=4-', 'if-range': 'W/"other"' })).text).toBe('abcdefghij');
    expect((await ask({ range: 'bytes=4-', 'if-range': etag })).text).toBe('efghij');
    for (const headers of [{ 'if-none-match': etag }, { 'if-modified-since': changed }] as Record<
      string,
      string
    >[]) {
      // Else fetch says that nothing old will do.
      const same = await ask({ ...headers, 'cache-control': 'max-age=0' });
      expect([same.status, same.text]).toEqual([304, '']);
    }
    expect((await ask({ 'if-match': '"other"' })).status).toBe(412);
    // Only those that got its beginning: the whole file twice.
    expect(await counted()).toBe(2);
    const others: Record<string, string> = { range: 'bytes=0-1', authorization: '' };
    expect((await ask(others)).status).toBe(401);
    expect(await counted()).toBe(2);
    await ada.call('DELETE', `${at}/${issue}/assets/${body.id}`);
  });

  it('is not left open when its download cannot be counted', async () => {
    const { body } = await send(ada, `${at}/${issue}/assets`, 'x');
    await scene.sql.run`alter table :schema.attachments add constraint uncounted check (downloads = 0)`;
    const before = await stored();
    expect((await download(rob, String(body['browser_download_url']))).status).toBe(500);
    await scene.sql.run`alter table :schema.attachments drop constraint uncounted`;
    expect(await stored()).toEqual(before);
    const open = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    expect(open).not.toContain(join(scene.dataFolder, 'attachments', String(body.id)));
    await ada.call('DELETE', `${at}/${issue}/assets/${body.id}`);
  });

  it('takes its name from the query, without folders and hidden characters', async () => {
    const query = `?name=${encodeURIComponent('..\\..\\a\u202e\r\nb.txt')}`;
    const { status, body } = await send(rob, `${at}/${byRob}/assets${query}`, 'x', '/etc/passwd');
    expect([status, body['name']]).toEqual([201, 'ab.txt']);
    expect(await files()).toEqual([String(body.id)]);
    await rob.call('DELETE', `${at}/${byRob}/assets/${body.id}`);
  });

  it('goes with its comment', async () => {
    const id = (await rob.call('POST', `${at}/${issue}/comments`, { body: 'with a file' })).body.id;
    expect((await send(rob, `${at}/comments/${id}/assets`, 'x')).status).toBe(201);
    expect(await files()).toHaveLength(1);
    expect((await rob.call('DELETE', `${at}/comments/${id}`)).status).toBe(204);
    expect(await stored()).toEqual({ files: [], rows: [] });
  });
});

describe('what has the file', () => {
  it.each(['issue', 'comment'])('of an %s changed when it came, got another name and went', async (kind) => {
    const made = await rob.call('POST', at, { title: 'Changes', body: 'the words' });
    const on = `${at}/${made.body.number}`;
    const words = (await rob.call('POST', `${on}/comments`, { body: 'the words' })).body.id;
    const path = kind === 'issue' ? `${on}/assets` : `${at}/comments/${words}/assets`;
    const about =
      kind === 'issue'
        ? { kind, issueId: made.body.id, changes: { body: { from: 'the words' } } }
        : { kind, issueId: made.body.id, commentId: words, from: 'the words' };
    const state = () => rowsOf(scene, 'issues', 'comments', 'told');
    /** What changed since the beginning of time, and what was told of it. */
    const during = async (work: () => Promise<unknown>) => {
      await scene.sql.run`update :schema.issues set updated_at = '2020-01-01' where id = ${made.body.id}`;
      await scene.sql.run`update :schema.comments set updated_at = '2020-01-01' where id = ${words}`;
      await scene.sql.run`delete from :schema.told`;
      await work();
      const [row] = await scene.sql.rows`
        select i.updated_at > '2021-01-01' as issue, c.updated_at > '2021-01-01' as comment
        from :schema.issues i, :schema.comments c where i.id = ${made.body.id} and c.id = ${words}`;
      const told = await scene.sql.rows<{ payload: object }>`select payload from :schema.told`;
      return { ...row, told: told.map(({ payload }) => payload) };
    };
    const changed = { issue: true, comment: kind === 'comment' };
    let id = 0;
    const sent = await during(async () => {
      id = (await send(ada, path, 'x')).body.id;
    });
    expect(sent).toEqual({ ...changed, told: [expect.objectContaining({ ...about, action: 'edited' })] });
    const renamed = await during(() => ada.call('PATCH', `${path}/${id}`, { name: 'b.txt' }));
    expect(renamed).toEqual({ ...changed, told: [] });
    expect(await during(() => ada.call('DELETE', `${path}/${id}`))).toEqual({ ...changed, told: [] });
    const before = await state();
    expect((await send(ada, path, Buffer.alloc(LIMIT + 1))).status).toBe(413);
    expect((await send(eve, path, 'x')).status).toBe(403);
    expect((await ada.call('PATCH', `${path}/${id}`, { name: 'c.txt' })).status).toBe(404);
    expect((await ada.call('DELETE', `${path}/${id}`)).status).toBe(404);
    expect(await state()).toEqual(before);
    await ada.call('DELETE', on);
  });
});

describe('refused, and nothing is left of it', () => {
  it('from somebody who is neither author nor writer', async () => {
    const before = await stored();
    for (const path of [`${at}/${issue}/assets`, `${at}/comments/${comment}/assets`])
      expect((await send(eve, path, 'x')).status).toBe(403);
    expect((await send(eve, '/repos/ada/secret/issues/1/assets', 'x')).status).toBe(404);
    expect((await send(ada, `${at}/999/assets`, 'x')).status).toBe(404);
    await ada.call('PUT', `${at}/${byRob}/lock`);
    expect((await send(rob, `${at}/${byRob}/assets`, 'x')).status).toBe(403);
    await ada.call('DELETE', `${at}/${byRob}/lock`);
    const anonymous = await fetch(`${scene.address}/api/v1${at}/${issue}/assets`, {
      method: 'POST',
      body: new FormData(),
    });
    expect(anonymous.status).toBe(401);
    expect(await stored()).toEqual(before);
  });

  it('too large, of another type, no form, without the file', async () => {
    const before = await stored();
    const path = `${at}/${issue}/assets`;
    expect((await send(ada, path, Buffer.alloc(LIMIT + 1))).status).toBe(413);
    expect((await send(ada, path, Buffer.alloc(LIMIT * 40))).status).toBe(413);
    expect((await send(ada, path, 'x', 'a.exe')).status).toBe(422);
    expect((await send(ada, path, 'x', 'a.txt', 'file')).status).toBe(400);
    const head = { authorization: `Bearer ${ada.token}` };
    const part = '--b\r\ncontent-disposition: form-data; name="attachment"; filename="a.txt"\r\n\r\n';
    for (const [type, body] of [
      ['application/json', '{}'],
      ['multipart/form-data', 'x'],
      ['multipart/form-data; boundary=b', '--b\r\nnonsense'],
      ['multipart/form-data; boundary=b', ''],
      ['multipart/form-data; boundary=b', `${part}no end`],
      ['multipart/form-data; boundary=b', `${part}one\r\n${part}another, and no end`],
    ] as const) {
      const answer = await fetch(`${scene.address}/api/v1${path}`, {
        method: 'POST',
        headers: { ...head, 'content-type': type },
        body,
      });
      expect(answer.status, type).toBeGreaterThanOrEqual(400);
      expect(answer.status, `${type} ${body}`).toBeLessThan(500);
    }
    expect(await stored()).toEqual(before);
    expect((await send(ada, path, Buffer.alloc(LIMIT))).status).toBe(201);
    const [row] = await rows();
    await ada.call('DELETE', `${path}/${row?.id}`);
  });

  it('when the client goes away in the middle', async () => {
    const url = new URL(`${scene.address}/api/v1${at}/${issue}/assets`);
    const sending = httpRequest(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ada.token}`,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': '100000',
      },
    });
    sending.on('error', () => {});
    sending.write(
      `--b\r\ncontent-disposition: form-data; name="attachment"; filename="a.txt"\r\n\r\n${'x'.repeat(50_000)}`,
    );
    await vi.waitFor(async () => expect(await files()).toHaveLength(1), { timeout: 40_000 });
    sending.destroy();
    await vi.waitFor(async () => expect(await stored()).toEqual({ files: [], rows: [] }), {
      timeout: 150_000,
    });
  });

  it('when it cannot be written', async () => {
    const folder = join(scene.dataFolder, 'attachments');
    await rm(folder, { recursive: true });
    await writeFile(folder, 'in the way');
    expect((await send(ada, `${at}/${issue}/assets`, 'x')).status).toBeGreaterThanOrEqual(500);
    await rm(folder);
    await mkdir(folder);
    expect(await stored()).toEqual({ files: [], rows: [] });
  });

  it('more than anybody looks at, also at once', async () => {
    await scene.sql.run`
      insert into :schema.attachments (uuid, repository_id, issue_id, name, size_bytes, stored, created_at)
      select gen_random_uuid(), repository_id, id, 'x', 0, true, now() from :schema.issues, generate_series(1, 50)
      where title = 'R'`;
    expect((await send(rob, `${at}/${byRob}/assets`, 'x')).status).toBe(422);
    await scene.sql.run`delete from :schema.attachments`;
    expect(await files()).toEqual([]);
  });
});

describe('files go at once', () => {
  const sendOne = async (path: string) => String((await send(ada, path, 'x')).body.id);

  it('with an issue and its comments, and no others', async () => {
    const kept = await sendOne(`${at}/${issue}/assets`);
    const { number } = (await ada.call('POST', at, { title: 'goes' })).body;
    const said = (await ada.call('POST', `${at}/${number}/comments`, { body: 'c' })).body.id;
    const going = [await sendOne(`${at}/${number}/assets`), await sendOne(`${at}/comments/${said}/assets`)];
    expect(await files()).toEqual([kept, ...going].sort());
    expect((await ada.call('DELETE', `${at}/${number}`)).status).toBe(204);
    expect(await files()).toEqual([kept]);
    expect((await rows()).map(({ id }) => String(id))).toEqual([kept]);
    await ada.call('DELETE', `${at}/${issue}/assets/${kept}`);
  });

  it('with a review, those of its comments on lines too, and no others', async () => {
    const repo = '/repos/ada/looked-at';
    await ada.call('POST', '/user/repos', { name: 'looked-at', auto_init: true });
    const file = { content: 'eA==', new_branch: 'topic', message: 'x' };
    await ada.call('POST', `${repo}/contents/new.txt`, file);
    await ada.call('POST', `${repo}/pulls`, { head: 'topic', base: 'main', title: 'look' });
    const review = async () => {
      const comments = [{ path: 'new.txt', new_position: 1, body: 'why?' }];
      const said = { event: 'COMMENT', body: 'all', comments };
      const { id } = (await rob.call('POST', `${repo}/pulls/1/reviews`, said)).body;
      const texts = await scene.sql.rows<{ id: number }>`
        select id from :schema.comments where (details->>'review_id')::bigint = ${id}`;
      return { id, texts: texts.map((one) => `${repo}/issues/comments/${one.id}/assets`) };
    };
    const [stays, goes] = [await review(), await review()];
    const kept: string[] = [];
    for (const path of [`${repo}/issues/1/assets`, ...stays.texts]) kept.push(await sendOne(path));
    const going: string[] = [];
    for (const path of goes.texts) going.push(await sendOne(path));
    expect([kept.length, going.length]).toEqual([3, 2]);
    const before = await stored();
    const refused = await eve.call('DELETE', `${repo}/pulls/1/reviews/${goes.id}`);
    expect([refused.status, await stored()]).toEqual([403, before]);
    expect((await rob.call('DELETE', `${repo}/pulls/1/reviews/${goes.id}`)).status).toBe(204);
    expect(await files()).toEqual([...kept].sort());
    expect((await rows()).map(({ id }) => String(id))).toEqual(kept);
    await ada.call('DELETE', repo);
  });

  it('with a repository, also those of its releases, and no others', async () => {
    const kept = await sendOne(`${at}/${issue}/assets`);
    await ada.call('POST', '/user/repos', { name: 'goes', auto_init: true });
    await ada.call('POST', '/repos/ada/goes/issues', { title: 'goes' });
    const release = await ada.call('POST', '/repos/ada/goes/releases', { tag_name: 'v1' });
    const going = [
      await sendOne('/repos/ada/goes/issues/1/assets'),
      await sendOne(`/repos/ada/goes/releases/${release.body.id}/assets`),
    ];
    expect(await files()).toEqual([kept, ...going].sort());
    expect((await ada.call('DELETE', '/repos/ada/goes')).status).toBe(204);
    expect(await files()).toEqual([kept]);
    await ada.call('DELETE', `${at}/${issue}/assets/${kept}`);
  });
});

describe('attacks', () => {
  it('files of private repositories are for those who read them', async () => {
    const { body } = await send(
      ada,
      '/repos/ada/secret/issues/1/assets',
      '<script>alert(1)</script>',
      'x.html',
    );
    const url = String(body['browser_download_url']);
    for (const who of [eve, rob]) expect((await download(who, url)).status).toBe(404);
    expect((await download(undefined, url)).status).toBe(401);
    expect((await download(ada, url)).headers.get('content-type')).toBe('application/octet-stream');
    // Of another issue, or of a comment, the id leads nowhere.
    for (const path of [`${at}/${issue}/assets`, `${at}/comments/${comment}/assets`]) {
      for (const method of ['GET', 'PATCH', 'DELETE'])
        expect(
          (await ada.call(method, `${path}/${body.id}`, method === 'PATCH' ? { name: 'a.txt' } : undefined))
            .status,
        ).toBe(404);
    }
    expect((await rob.call('GET', '/repos/ada/secret/issues/1/assets')).status).toBe(404);
    expect((await ada.call('DELETE', `/repos/ada/secret/issues/1/assets/${body.id}`)).status).toBe(204);
  });

  it.each([
    '..%2f..%2fsecrets.json',
    '1',
    '%2e%2e%2f',
    'x'.repeat(500),
    '00000000-0000-0000-0000-000000000000',
  ])('/attachments/%s is nothing', async (name) => {
    const answer = await download(ada, `${scene.address}/attachments/${name}`);
    expect(answer.status).toBe(404);
  });
});

describe('after a crash', () => {
  it('unfinished files and those of what is gone are removed, and no others', async () => {
    const kept = await send(ada, `${at}/${issue}/assets`, 'kept');
    const cascaded = await send(ada, '/repos/ada/secret/issues/1/assets', 'gone');
    const half = await send(ada, `${at}/${issue}/assets`, 'half');
    const folder = join(scene.dataFolder, 'attachments');
    await scene.restart(async () => {
      await scene.sql.run`update :schema.attachments set stored = false where id = ${half.body.id}`;
      await scene.sql.run`delete from :schema.issues where title = 'S'`;
      await writeFile(join(folder, '999999'), 'left over');
      await writeFile(join(folder, 'README'), 'not ours');
    });
    expect(cascaded.status).toBe(201);
    expect(await files()).toEqual([String(kept.body.id), 'README']);
    expect((await rows()).map(({ id }) => id)).toEqual([kept.body.id]);
    const answer = await download(rob, `${scene.address}/attachments/${String(kept.body['uuid'])}`);
    expect(await answer.text()).toBe('kept');
    await rm(join(folder, String(kept.body.id)));
    expect((await download(rob, `${scene.address}/attachments/${String(kept.body['uuid'])}`)).status).toBe(
      404,
    );
  });
});
