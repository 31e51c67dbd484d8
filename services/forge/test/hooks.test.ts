import { describe, expect, it } from 'vitest';
import { type Person, request, useForge } from './forge.ts';
import { type LogFields, logLines } from './log-lines.ts';
import { startReceiver } from './receiver.ts';

const lines: LogFields[] = [];
const scene = useForge({ environment: { FORGE_WEBHOOK_ALLOWED_HOSTS: 'loopback' }, log: logLines(lines) });
const receiver = await startReceiver();
const SECRET = 'a-very-special-secret';
const people = new Map<string, Person>();
/** The same person each time. */
function person(name: string, claims = {}): Person {
  const known = people.get(name) ?? scene.person(name, claims);
  people.set(name, known);
  return known;
}
const hooksOf = (repository: string) => `/repos/${repository}/hooks`;

function hook(more: object = {}, config: object = {}) {
  return {
    type: 'gitea',
    config: { url: receiver.url, content_type: 'json', secret: SECRET, ...config },
    events: ['push'],
    active: true,
    ...more,
  };
}

async function make(person: Person, name: string, settings: object = {}): Promise<string> {
  const { status } = await person.call('POST', '/user/repos', { name, ...settings });
  expect(status).toBe(201);
  return `${person.name}/${name}`;
}

const rows = () => scene.sql.rows`select id, url, events, active from :schema.hooks order by id`;

describe('the API of webhooks', () => {
  it('forgets the header for one place when it is to send to another', async () => {
    const ada = person('ada');
    const path = hooksOf(await make(ada, 'moved-hook'));
    const { body } = await ada.call('POST', path, hook({ authorization_header: 'Bearer for-the-first' }));
    const header = async () =>
      await scene.sql.row`
        select authorization_header is not null as kept, secret is not null as signed from :schema.hooks where id = ${body.id}`;
    const send = (url: string, more = {}) =>
      ada.call('PATCH', `${path}/${body.id}`, { config: { url }, ...more });
    expect((await send(`${receiver.url}/other-path`)).status).toBe(200);
    expect(await header()).toEqual({ kept: true, signed: true });
    expect((await send('http://elsewhere.example/hook')).status).toBe(200);
    expect(await header()).toEqual({ kept: false, signed: true });
    await send('https://elsewhere.example/hook', { authorization_header: 'Bearer for-the-second' });
    expect(await header()).toEqual({ kept: true, signed: true });
  });

  it('makes, shows, edits, lists and deletes one', async () => {
    const ada = person('ada');
    const path = hooksOf(await make(ada, 'crud'));
    const made = await ada.call(
      'POST',
      path,
      hook({ branch_filter: 'main', authorization_header: 'Bearer x' }),
    );
    expect(made).toMatchObject({
      status: 201,
      body: {
        type: 'gitea',
        config: { url: receiver.url, content_type: 'json' },
        events: ['push'],
        branch_filter: 'main',
        active: true,
        authorization_header: '',
      },
    });
    const one = `${path}/${made.body.id}`;
    expect((await ada.call('GET', one)).body).toEqual(made.body);
    const listed = await ada.call('GET', path);
    expect(listed.items).toEqual([made.body]);
    expect(listed.headers.get('x-total-count')).toBe('1');
    const edited = await ada.call('PATCH', one, {
      events: ['issues_only'],
      active: false,
      config: { content_type: 'form' },
    });
    expect(edited).toMatchObject({
      status: 200,
      body: {
        events: ['issues'],
        active: false,
        config: { url: receiver.url, content_type: 'form' },
        branch_filter: 'main',
      },
    });
    expect((await ada.call('DELETE', one)).status).toBe(204);
    expect((await ada.call('GET', one)).status).toBe(404);
    expect((await ada.call('DELETE', one)).status).toBe(404);
  });

  it('is off unless it is switched on, and is for pushes unless something else is said', async () => {
    const ada = person('ada');
    const path = hooksOf(await make(ada, 'defaults'));
    const { type, config } = hook();
    expect((await ada.call('POST', path, { type, config })).body).toMatchObject({
      active: false,
      events: ['push'],
    });
  });

  it('takes null in its configuration for what is not said', async () => {
    const ada = person('ada');
    const path = hooksOf(await make(ada, 'nulls'));
    const made = await ada.call('POST', path, hook({}, { channel: null, secret: null }));
    expect(made).toMatchObject({
      status: 201,
      body: { config: { url: receiver.url, content_type: 'json' } },
    });
    const secrets = () => scene.sql.rows`select secret from :schema.hooks where id = ${made.body.id}`;
    expect(await secrets()).toEqual([{ secret: null }]);
    await ada.call('PATCH', `${path}/${made.body.id}`, { config: { secret: SECRET } });
    const [sealed] = await secrets();
    const edited = await ada.call('PATCH', `${path}/${made.body.id}`, {
      config: { url: null, content_type: 'form', secret: null },
    });
    expect(edited).toMatchObject({
      status: 200,
      body: { config: { url: receiver.url, content_type: 'form' } },
    });
    expect(await secrets()).toEqual([sealed]);
    const before = await rows();
    const refused = await ada.call('POST', path, hook({}, { url: null }));
    expect(refused).toMatchObject({ status: 422, body: { message: 'Missing config option: url' } });
    expect(await rows()).toEqual(before);
  });

  it('is for those who administrate the place, and looks like nothing to strangers', async () => {
    const [ada, writer, admin, stranger] = ['ada', 'writer', 'warden', 'stranger'].map((name) =>
      person(name),
    ) as [Person, Person, Person, Person];
    for (const one of [writer, admin, stranger]) await one.call('GET', '/user');
    const path = hooksOf(await make(ada, 'closed', { private: true }));
    await scene.sql.run`
      insert into :schema.collaborators select r.id, u.id, case u.login when 'warden' then 3 else 2 end
      from :schema.repositories r, :schema.users u where r.name = 'closed' and u.login in ('writer', 'warden')`;
    const { body: made } = await ada.call('POST', path, hook());
    const before = await rows();
    for (const [person, status] of [
      [writer, 403],
      [stranger, 404],
    ] as const) {
      for (const [method, at, body] of [
        ['GET', '', undefined],
        ['POST', '', hook()],
        ['GET', `/${made.id}`, undefined],
        ['PATCH', `/${made.id}`, { active: false }],
        ['DELETE', `/${made.id}`, undefined],
        ['POST', `/${made.id}/tests`, undefined],
        ['GET', `/${made.id}/deliveries`, undefined],
        ['POST', `/${made.id}/deliveries/1/redeliver`, undefined],
      ] as const) {
        const answer = await person.call(method, path + at, body);
        expect({ who: person.name, method, at, status: answer.status }).toEqual({
          who: person.name,
          method,
          at,
          status,
        });
      }
    }
    expect((await request(`${scene.address}/api/v1${path}`, 'GET')).status).toBe(401);
    expect(await rows()).toEqual(before);
    expect((await admin.call('GET', path)).items).toHaveLength(1);
    // Of another repository it is not.
    const other = hooksOf(await make(ada, 'other'));
    expect((await ada.call('GET', `${other}/${made.id}`)).status).toBe(404);
    expect((await ada.call('DELETE', `${other}/${made.id}`)).status).toBe(404);
    expect(await rows()).toEqual(before);
  });

  it('knows hooks of organizations, of people and of the system', async () => {
    const ada = person('ada');
    const root = person('root', { role: 'service_role' });
    const member = person('member');
    await member.call('GET', '/user');
    expect((await ada.call('POST', '/orgs', { username: 'guild' })).status).toBe(201);
    expect((await ada.call('POST', '/orgs/guild/hooks', hook())).status).toBe(201);
    expect((await member.call('GET', '/orgs/guild/hooks')).status).toBe(403);
    expect((await member.call('POST', '/orgs/guild/hooks', hook())).status).toBe(403);
    expect((await ada.call('GET', '/orgs/guild/hooks')).items).toHaveLength(1);
    expect((await ada.call('POST', '/user/hooks', hook())).status).toBe(201);
    expect((await member.call('GET', '/user/hooks')).items).toEqual([]);
    expect((await ada.call('GET', '/user/hooks')).items).toHaveLength(1);
    const [own] = (await ada.call('GET', '/user/hooks')).items;
    expect((await ada.call('GET', '/admin/hooks')).status).toBe(403);
    expect((await ada.call('POST', '/admin/hooks', hook())).status).toBe(403);
    const system = await root.call('POST', '/admin/hooks', hook({ active: false }));
    expect(system.status).toBe(201);
    expect((await root.call('GET', '/admin/hooks')).items).toHaveLength(1);
    // None of them is found at the place of another.
    expect((await ada.call('GET', `/user/hooks/${system.body.id}`)).status).toBe(404);
    expect((await root.call('GET', `/admin/hooks/${own?.id}`)).status).toBe(404);
    expect((await member.call('DELETE', `/user/hooks/${own?.id}`)).status).toBe(404);
    for (const [person, path] of [
      [root, '/admin/hooks'],
      [ada, '/user/hooks'],
      [ada, '/orgs/guild/hooks'],
    ] as const) {
      for (const one of (await person.call('GET', path)).items)
        expect((await person.call('DELETE', `${path}/${one.id}`)).status).toBe(204);
    }
  });

  it.each([
    [{ type: '' }, {}, '[Type]: Required'],
    [{ type: 'slack' }, {}, 'Invalid hook type: slack'],
    [{}, { url: undefined }, 'Missing config option: url'],
    [{}, { content_type: undefined }, 'Missing config option: content_type'],
    [{}, { content_type: 'xml' }, 'Invalid content type'],
    [{}, { url: 'nowhere' }, 'Invalid url'],
    [{}, { url: 'file:///etc/passwd' }, 'Invalid url'],
    [{}, { url: 'http://a:b@example.com/' }, 'Invalid url'],
    [{}, { url: `http://example.com/${'x'.repeat(3000)}` }, 'Invalid url'],
    [{}, { secret: 'x'.repeat(2000) }, '[Secret]: MaxSize(1024)'],
    [{ events: ['pushes'] }, {}, 'Invalid hook event: pushes'],
    [{ branch_filter: '[' }, {}, '[BranchFilter]: GlobPattern'],
    [{ authorization_header: 'a\r\nx: y' }, {}, '[AuthorizationHeader]: Invalid'],
    [{ config: null }, {}, 'Missing config option: url'],
  ])('refuses %j with %j', async (more, config, message) => {
    const ada = person('ada');
    const path = '/user/hooks';
    const before = await rows();
    const answer = await ada.call('POST', path, hook(more, config));
    expect(answer).toMatchObject({ status: 422, body: { message } });
    expect(await rows()).toEqual(before);
  });

  it.each([
    '{"type":',
    { type: 1 },
    { type: 'gitea', config: [] },
    { type: 'gitea', config: { url: 1 } },
    { ...hook(), events: 'push' },
  ])('refuses %j in its own form', async (body) => {
    const answer = await person('ada').call('POST', '/user/hooks', body);
    expect(answer.status).toBe(422);
    expect(answer.body.message).toBeTypeOf('string');
  });

  it('has a limit', async () => {
    const lots = person('lots');
    await lots.call('GET', '/user');
    await scene.sql.run`
      insert into :schema.hooks (owner_id, type, url, content_type, events, active, created_at, updated_at)
      select u.id, 'gitea', 'http://example.test', 'json', '{}', false, now(), now()
      from :schema.users u, generate_series(1, 50) where login = 'lots'`;
    expect(await lots.call('POST', '/user/hooks', hook())).toMatchObject({
      status: 422,
      body: { message: 'there are 50 webhooks already' },
    });
  });

  it('has a limit also for those who come at once', async () => {
    const ada = person('ada');
    const path = hooksOf(await make(ada, 'crowded'));
    const made = await Promise.all(Array.from({ length: 60 }, () => ada.call('POST', path, hook())));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(made.filter(({ status }) => status === 422)).toHaveLength(10);
    const { headers } = await ada.call('GET', path);
    expect(headers.get('x-total-count')).toBe('50');
  });

  it('keeps what two change at once, a new secret among it', async () => {
    const ada = person('ada');
    const path = hooksOf(await make(ada, 'changed-at-once'));
    const { body } = await ada.call('POST', path, hook());
    const row = () =>
      scene.sql.row<{ secret: string; events: string[]; active: boolean }>`
        select encode(secret, 'hex') as secret, events, active from :schema.hooks where id = ${body.id}`;
    for (let round = 0; round < 10; round++) {
      const before = await row();
      const events = round % 2 === 0 ? ['create'] : ['push'];
      const active = round % 2 !== 0;
      const changed = await Promise.all(
        [{ config: { secret: `rotated-${round}` } }, { events }, { active }].map((change) =>
          ada.call('PATCH', `${path}/${body.id}`, change),
        ),
      );
      expect(changed.map(({ status }) => status)).toEqual([200, 200, 200]);
      const after = await row();
      expect(after).toMatchObject({ events, active });
      expect(after?.secret).not.toBe(before?.secret);
    }
  });

  it('tells its secrets to nobody: no answer, no table, no log', async () => {
    const ada = person('ada');
    const path = hooksOf(await make(ada, 'discreet'));
    const header = 'Bearer hidden-credentials';
    const made = await ada.call('POST', path, hook({ authorization_header: header, events: ['issues'] }));
    const one = `${path}/${made.body.id}`;
    receiver.clear();
    receiver.answer = (_delivery, response) => response.writeHead(400).end('no');
    await ada.call('POST', '/repos/ada/discreet/issues', { title: 'x' });
    await receiver.take('issues');
    receiver.answer = (_delivery, response) => response.end();
    expect(receiver.deliveries[0]?.headers.authorization).toBe(header);
    await expect
      .poll(async () => (await ada.call('GET', `${one}/deliveries`)).items)
      .toMatchObject([{ succeeded: false }]);
    const answers = [
      made,
      await ada.call('GET', one),
      await ada.call('GET', path),
      await ada.call('GET', `${one}/deliveries`),
    ];
    const kept = await scene.sql.rows`
      select row_to_json(h)::text as text from :schema.hooks h union all
      select row_to_json(d)::text from :schema.hook_deliveries d union all
      select row_to_json(o)::text from :schema.outbox o`;
    const everything = JSON.stringify([answers, kept, lines]);
    expect(everything).not.toContain(SECRET);
    expect(everything).not.toContain('hidden-credentials');
    expect(everything).not.toContain(Buffer.from(SECRET).toString('hex'));
  });
});

it('a webhook has a name, which stays until it is changed', async () => {
  const ada = person('ada');
  const path = hooksOf(await make(ada, 'named'));
  const made = await ada.call('POST', path, hook({ name: 'the builder' }));
  expect(made.body).toMatchObject({ name: 'the builder' });
  const one = `${path}/${made.body.id}`;
  expect((await ada.call('PATCH', one, { events: ['issues'] })).body).toMatchObject({ name: 'the builder' });
  const long = 'x'.repeat(256);
  expect((await ada.call('POST', path, hook({ name: long }))).status).toBe(422);
  expect((await ada.call('PATCH', one, { name: long, active: false })).status).toBe(422);
  expect((await ada.call('GET', one)).body).toMatchObject({ name: 'the builder', active: true });
  expect((await ada.call('PATCH', one, { name: '' })).body).toMatchObject({ name: '' });
  expect((await ada.call('GET', path)).items).toHaveLength(1);
});
