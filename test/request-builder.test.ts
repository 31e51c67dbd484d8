import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Endpoint, type EndpointOptions, endpoint, toFetch } from '@croft/endpoint';
import { git } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken, forgeForClients } from './support/forge.ts';

// A person's afternoon with the forge, every request of it made by the request builder and sent through toFetch. The
// tests build on one another.

const BRANCH = 'topic/ä-1';
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

let address: string;
let folder: string;
/** The builder of everybody, of ada with her personal token, and of ada's in her repository. */
let anybody: Endpoint;
let ada: Endpoint;
let tools: Endpoint;
let token: string;

beforeAll(async () => {
  ({ address, folder } = stack.use(await forgeForClients()));
  anybody = endpoint.defaults({ baseUrl: `${address}/api/v1/` });
});

async function send(build: Endpoint, route: string, options: EndpointOptions = {}) {
  const response = await fetch(...toFetch(build(route, options)));
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get('content-type')?.startsWith('application/json') === true && text !== '';
  return { status, headers, body: isJson ? (JSON.parse(text) as unknown) : text };
}

describe('signing in', () => {
  it('trades the access token of auth for a personal one, which becomes a default', async () => {
    const signedIn = anybody.defaults({ headers: { authorization: `Bearer ${accessToken('ada')}` } });
    expect(await send(signedIn, 'GET /user')).toMatchObject({ status: 200, body: { login: 'ada' } });
    const made = await send(signedIn, 'POST /users/:user/tokens', {
      user: 'ada',
      name: 'laptop',
      scopes: ['all'],
    });
    expect(made.status).toBe(201);
    token = (made.body as { sha1: string }).sha1;
    ada = anybody.defaults({ headers: { Authorization: `token ${token}` } });
    expect(await send(ada, '/user')).toMatchObject({ status: 200, body: { login: 'ada' } });
  });

  it('fails without a token and with an unknown one', async () => {
    expect((await send(anybody, 'GET /user')).status).toBe(401);
    expect((await send(ada, 'GET /user', { headers: { AUTHORIZATION: 'token 0' } })).status).toBe(401);
    expect(
      (await send(ada, 'GET /user', { headers: new Headers({ authorization: 'token 0' }) })).status,
    ).toBe(401);
    expect((await send(ada, 'GET /user', { headers: { authorization: null } })).status).toBe(401);
  });
});

describe('a repository', () => {
  it('is made from parameters and is a default from then on', async () => {
    const made = await send(ada, 'POST /user/repos', {
      name: 'tools',
      description: 'ä "b" \\ c',
      private: true,
    });
    expect(made).toMatchObject({ status: 201, body: { description: 'ä "b" \\ c', private: true } });
    tools = ada.defaults({ owner: 'ada', repo: 'tools' });
    expect(await send(tools, 'GET /repos/{owner}/{repo}')).toMatchObject({
      status: 200,
      body: { empty: true },
    });
    expect((await send(tools, 'HEAD /repos/{owner}/{repo}')).body).toBe('');
  });

  it('is found by name only: a slash in a value stays in its segment, `..` is not even sent', async () => {
    expect(
      (await send(ada, 'GET /repos/{owner}/{repo}', { owner: 'ada', repo: 'tools/issues' })).status,
    ).toBe(404);
    expect((await send(ada, 'GET /repos/{owner}/{repo}', { owner: 'ada', repo: 'no such' })).status).toBe(
      404,
    );
    const escape = () => ada('GET /repos/{owner}/{repo}/pulls', { owner: '..', repo: 'user' });
    expect(escape).toThrow(expect.objectContaining({ name: 'EndpointError', option: 'owner' }));
  });

  it('takes a push at the address that {+path} gives', async () => {
    const { url } = endpoint('{+path}.git', { baseUrl: address, path: 'ada/tools' });
    const remote = url.replace('://', `://ada:${token}@`);
    const work = join(folder, 'work');
    await git(folder, 'init', '-q', '-b', 'main', work);
    for (const branch of ['main', BRANCH]) {
      await git(work, 'checkout', '-q', '-B', branch);
      await writeFile(join(work, 'file'), `${branch}\n`);
      await git(work, 'add', '.');
      await git(work, 'commit', '-q', '-m', `on ${branch}`);
      await git(work, 'push', '-q', remote, branch);
    }
    const refs = await send(ada, 'GET {+path}.git/info/refs{?service}', {
      baseUrl: address,
      path: 'ada/tools',
      service: 'git-upload-pack',
    });
    expect([refs.status, refs.body]).toEqual([200, expect.stringContaining(`refs/heads/${BRANCH}`)]);
  });
});

describe('issues', () => {
  const list = '/repos/{owner}/{repo}/issues';
  const titles = ({ body }: { body: unknown }) => (body as { title: string }[]).map(({ title }) => title);

  it.each([
    [
      'text of any kind',
      { title: 'One +&=?#%41 🎈', body: 'a\r\nb\u2028</b>' },
      { body: 'a\r\nb\u2028</b>' },
    ],
    [
      'a date',
      { title: 'Two', due_date: new Date('2030-01-31T12:00:00Z') },
      { due_date: '2030-01-31T23:59:59Z' },
    ],
    ['a list', { title: 'Three', assignees: ['ada'] }, { assignees: [{ login: 'ada' }] }],
    ['a boolean', { title: 'Four', closed: true }, { state: 'closed' }],
    ['a bigint and an empty list', { title: 'Five', milestone: 0n, assignees: [] }, { milestone: null }],
    ['null and undefined', { title: 'Six', body: null, ref: undefined }, { body: '', ref: '' }],
    ['data instead of parameters', { data: { title: 'Seven' }, title: 'not this' }, { title: 'Seven' }],
    ['a name of the template in data', { data: { title: 'Eight', body: '{owner}' } }, { body: '{owner}' }],
  ])('take %s', async (_, options: EndpointOptions, expected) => {
    expect(await send(tools, `POST ${list}`, options)).toMatchObject({ status: 201, body: expected });
  });

  it('keep every character of a title', async () => {
    const first = await send(tools, `GET ${list}/{index}`, { index: 1n });
    expect(first.body).toMatchObject({ title: 'One +&=?#%41 🎈' });
  });

  it('are listed by page, and `next` of Link is a url like any other', async () => {
    const query = { labels: [7, 9], state: 'open', type: null, limit: 3 };
    let page = await send(tools, `GET ${list}{?labels*,state}`, query);
    const seen = titles(page);
    expect([page.status, page.headers.get('x-total-count')]).toEqual([200, '7']);
    for (;;) {
      const next = /<([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
      if (next === undefined) break;
      expect(new URL(next).searchParams.getAll('labels')).toEqual(['7', '9']);
      page = await send(ada, next);
      seen.push(...titles(page));
    }
    expect(seen).toEqual(['Eight', 'Seven', 'Six', 'Five', 'Three', 'Two', 'One +&=?#%41 🎈']);
    expect(titles(await send(tools, `GET ${list}`, { state: 'closed' }))).toEqual(['Four']);
  });

  it('are found by words that a plus sign or a space keeps apart', async () => {
    await send(tools, `POST ${list}`, { title: 'Let there be light' });
    for (const q of ['there+be', 'there be', 'THERE BE']) {
      expect(titles(await send(tools, list, { q }))).toEqual(['Let there be light']);
    }
    expect(titles(await send(tools, `${list}{?q}`, { q: 'One +&=?#%41 🎈' }))).toHaveLength(1);
    expect(titles(await send(tools, list, { q: 'there&state=closed' }))).toEqual([]);
  });

  it('are changed with PATCH, and nothing is where nothing was given', async () => {
    const at = { index: 1, headers: { 'Content-Type': 'application/json' } };
    const changed = await send(tools, `patch ${list}/:index`, { ...at, state: 'closed', title: undefined });
    expect(changed).toMatchObject({ status: 201, body: { state: 'closed', title: 'One +&=?#%41 🎈' } });
    expect((await send(tools, `PATCH ${list}/{index}`, { index: 1 })).status).toBe(201);
    expect((await send(tools, `PATCH ${list}/{index}`, { index: 1, state: 'open' })).body).toMatchObject({
      state: 'open',
    });
  });

  it.each([
    ['an empty title', { title: ' ' }, 422],
    ['no title', { body: 'x' }, 422],
    ['a wrong type', { title: 'x', assignees: 'ada' }, 422],
    ['a date of another form', { title: 'x', due_date: 'tomorrow' }, 422],
    ['an unknown milestone', { title: 'x', milestone: 7 }, 404],
    ['text for JSON', { data: '{"title":', headers: { 'content-type': 'application/json' } }, 422],
  ])('refuse %s', async (_, options: EndpointOptions, status) => {
    const before = (await send(tools, `HEAD ${list}`, { state: 'all' })).headers.get('x-total-count');
    const refused = await send(tools, `POST ${list}`, options);
    expect(refused).toMatchObject({ status, body: { message: expect.any(String) } });
    expect((await send(tools, `HEAD ${list}`, { state: 'all' })).headers.get('x-total-count')).toBe(before);
  });

  it('that are not there are not found', async () => {
    expect((await send(tools, `GET ${list}/{index}`, { index: 999 })).status).toBe(404);
    expect((await send(tools, `GET ${list}/{index}`, { index: '1/../2' })).status).toBe(404);
  });
});

describe('a pull request', () => {
  const pulls = '/repos/{owner}/{repo}/pulls';

  it('is opened from a branch with a slash in its name', async () => {
    const made = await send(tools, `POST ${pulls}`, { head: BRANCH, base: 'main', title: 'A topic' });
    expect(made).toMatchObject({ status: 201, body: { head: { ref: BRANCH }, mergeable: true } });
  });

  it('is shown as a diff by the format of the media type, or by the suffix', async () => {
    const index = 10;
    const show = (format?: string) => send(tools, `GET ${pulls}/{index}`, { index, mediaType: { format } });
    expect((await show()).body).toMatchObject({ number: index });
    const diff = await show('diff');
    expect(diff.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(diff.body).toContain(`-main\n+${BRANCH}\n`);
    expect((await show('patch')).body).toMatch(/^From [0-9a-f]{40} /);
    expect((await send(tools, `GET ${pulls}/{index}.{type}`, { index, type: 'diff' })).body).toBe(diff.body);
  });

  it('is merged', async () => {
    const merge = `${pulls}/{index}/merge`;
    expect((await send(tools, `GET ${merge}`, { index: 10 })).status).toBe(404);
    expect((await send(tools, `POST ${merge}`, { index: 10, Do: 'merge' })).status).toBe(200);
    expect((await send(tools, `GET ${merge}`, { index: 10 })).status).toBe(204);
  });
});

describe('a request', () => {
  it('ends by its signal', async () => {
    const late = tools.defaults({ request: { signal: AbortSignal.timeout(0) } });
    await expect(send(late, 'GET /user')).rejects.toThrow(/timeout/);
    const controller = new AbortController();
    const answer = send(tools, 'GET /user', { request: { signal: controller.signal } });
    controller.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
  });

  it('is not sent at all without what it cannot do without', () => {
    const strict: Endpoint = anybody.defaults({ request: { strict: true } });
    expect(() => strict('GET /repos/{owner}/{repo}' as string, { owner: 'ada' })).toThrow(
      expect.objectContaining({ option: 'repo' }),
    );
  });

  it('takes a repository away', async () => {
    expect((await send(tools, 'DELETE /repos/{owner}/{repo}')).status).toBe(204);
    expect((await send(tools, 'GET /repos/{owner}/{repo}')).status).toBe(404);
  });
});
