import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let writer: Person;
let stranger: Person;
beforeAll(async () => {
  [ada, writer, stranger] = ['ada', 'writer', 'stranger'].map((name) => scene.person(name)) as [
    Person,
    Person,
    Person,
  ];
  for (const person of [writer, stranger]) await person.call('GET', '/user');
  for (const name of ['one', 'two']) await ada.call('POST', '/user/repos', { name });
  await ada.call('POST', '/user/repos', { name: 'hidden', private: true });
  await scene.sql.run`
    insert into :schema.collaborators (repository_id, user_id, level)
    select r.id, u.id, 2 from :schema.repositories r, :schema.users u where r.name = 'one' and u.login = 'writer'`;
});

const issue = async (repo = 'one') =>
  (await ada.call('POST', `/repos/ada/${repo}/issues`, { title: `of ${repo}` })).body.number;
const at = (number: number, side = 'dependencies', repo = 'one') =>
  `/repos/ada/${repo}/issues/${number}/${side}`;
const depend = (number: number, on: number, who = ada) => who.call('POST', at(number), { index: on });
const close = (number: number, repo = 'one') =>
  ada.call('PATCH', `/repos/ada/${repo}/issues/${number}`, { state: 'closed' });
const stored = () =>
  rowsOf(
    scene,
    'dependencies',
    'comments',
    'issues',
    'repositories(id, issues, closed_issues, pulls, closed_pulls)',
  );
const refused = async (status: number, message: string | RegExp, work: () => ReturnType<Person['call']>) => {
  const before = await stored();
  const reply = await work();
  expect([reply.status, reply.body.message]).toEqual([
    status,
    typeof message === 'string' ? message : expect.stringMatching(message),
  ]);
  expect(await stored()).toEqual(before);
};

describe('dependencies', () => {
  it('are added, listed on both sides, told in both timelines, and removed', async () => {
    const [a, b] = [await issue(), await issue()];
    const made = await writer.call('POST', at(a), { index: b, owner: 'ADA', repo: 'One' });
    expect([made.status, made.body.number]).toEqual([201, a]);
    expect((await stranger.call('GET', at(a))).items.map(({ number }) => number)).toEqual([b]);
    const blocks = await stranger.call('GET', at(b, 'blocks'));
    expect(blocks.items.map(({ number }) => number)).toEqual([a]);
    expect(blocks.headers.get('x-total-count')).toBe('1');
    expect((await ada.call('GET', at(b))).items).toEqual([]);
    const kinds = await scene.sql.rows`
      select i.number, c.kind, (select number from :schema.issues o where o.id = (details->>'dependent_issue')::bigint) as other
      from :schema.comments c join :schema.issues i on i.id = c.issue_id order by c.id`;
    expect(kinds).toEqual([
      { number: a, kind: 'add_dependency', other: b },
      { number: b, kind: 'add_dependency', other: a },
    ]);
    const gone = await writer.call('DELETE', at(b, 'blocks'), { index: a });
    expect([gone.status, gone.body.number]).toEqual([200, b]);
    expect((await ada.call('GET', at(a))).items).toEqual([]);
    await refused(404, /./, () => ada.call('DELETE', at(a), { index: b }));
  });

  it('go across repositories, and are added from the other side', async () => {
    const [a, b] = [await issue('one'), await issue('two')];
    const body = { index: a, owner: 'ada', repo: 'one' };
    expect((await ada.call('POST', at(b, 'blocks', 'two'), body)).status).toBe(201);
    const [first] = (await ada.call('GET', at(a))).items;
    expect(first).toMatchObject({ number: b, repository: { full_name: 'ada/two' } });
    expect((await close(a)).status).toBe(412);
    expect((await close(b, 'two')).status).toBe(201);
    expect((await close(a)).status).toBe(201);
  });

  it('are refused for itself, twice, and in a circle of any length', async () => {
    const [a, b, c, d] = [await issue(), await issue(), await issue(), await issue()];
    await refused(422, 'an issue cannot depend on itself', () => depend(a, a));
    for (const [from, to] of [
      [a, b],
      [b, c],
      [c, d],
    ] as const) {
      expect((await depend(from, to)).status).toBe(201);
    }
    await refused(422, 'the dependency exists already', () => depend(a, b));
    await refused(422, 'the dependency would go in a circle', () => depend(b, a));
    await refused(422, 'the dependency would go in a circle', () => depend(d, a));
    await refused(422, 'the dependency would go in a circle', () =>
      ada.call('POST', at(a, 'blocks'), { index: d }),
    );
    // A diamond is none.
    expect((await depend(a, d)).status).toBe(201);
  });

  it.each([
    ['nothing', {}],
    ['a text', { index: 'x' }],
    ['a fraction', { index: 1.5 }],
  ])('are refused for %s', async (_what, body) => {
    const a = await issue();
    await refused(422, /^\[Index\]/, () => ada.call('POST', at(a), body));
  });

  it('are for those who write where the waiting one is, and show nothing of hidden ones', async () => {
    const [a, b, two] = [await issue(), await issue(), await issue('two')];
    const hidden = await issue('hidden');
    await refused(403, /permission/, () => depend(a, b, stranger));
    await refused(404, /./, () =>
      writer.call('POST', at(a), { index: hidden, owner: 'ada', repo: 'hidden' }),
    );
    await refused(404, /./, () => writer.call('POST', at(a), { index: 999 }));
    await refused(403, /permission/, () => writer.call('POST', at(a, 'blocks'), { index: two, repo: 'two' }));
    expect((await ada.call('POST', at(a), { index: hidden, repo: 'hidden' })).status).toBe(201);
    const seen = await writer.call('GET', at(a));
    expect([seen.items, seen.headers.get('x-total-count')]).toEqual([[], '0']);
    expect((await ada.call('GET', at(a))).items).toHaveLength(1);
    await refused(404, /./, () => stranger.call('GET', at(hidden, 'blocks', 'hidden')));
    await refused(401, /./, async () => {
      const reply = await fetch(`${scene.address}/api/v1${at(a)}`, { method: 'POST', body: '{}' });
      return { status: reply.status, body: await reply.json() } as Awaited<ReturnType<Person['call']>>;
    });
  });
});

describe('a dependency on what is hidden now', () => {
  let eve: Person;
  const path = '/repos/eve/ev/issues/1';
  const entered = { owner: 'ada', repo: 'tog', index: 1 };
  const remove = (who: Person, body: object) => who.call('DELETE', `${path}/dependencies`, body);
  const waits = async () =>
    (
      await scene.sql.rows`
        select from :schema.dependencies d join :schema.issues i on i.id = d.issue_id
          join :schema.repositories r on r.id = i.repository_id where r.name = 'ev'`
    ).length;

  beforeEach(async () => {
    eve = scene.person('eve');
    await eve.call('POST', '/user/repos', { name: 'ev' });
    await ada.call('POST', '/user/repos', { name: 'tog' });
    for (const title of ['the secret', 'another']) await ada.call('POST', '/repos/ada/tog/issues', { title });
    await eve.call('POST', '/repos/eve/ev/issues', { title: 'waits' });
    await eve.call('POST', `${path}/dependencies`, entered);
    await ada.call('PATCH', '/repos/ada/tog', { private: true });
  });
  afterEach(async () => {
    await scene.sql.run`delete from :schema.repositories where name in ('ev', 'tog', 'gone')`;
    await scene.sql.run`delete from :schema.users where login like 'eve%'`;
  });

  it('is ended by whoever writes where the waiting one is, by the path it was added with, and tells nothing', async () => {
    expect([await waits(), (await eve.call('GET', `${path}/dependencies`)).items]).toEqual([1, []]);
    expect((await eve.call('PATCH', path, { state: 'closed' })).status).toBe(412);
    const gone = await remove(eve, entered);
    expect([gone.status, gone.body.title]).toEqual([200, 'waits']);
    const { items, text } = await eve.call('GET', `${path}/timeline`);
    expect([items, gone.text + text]).toEqual([[], expect.not.stringContaining('secret')]);
    expect((await eve.call('PATCH', path, { state: 'closed' })).body).toMatchObject({ state: 'closed' });
    const told = (await ada.call('GET', '/repos/ada/tog/issues/1/timeline')).items;
    expect(told.map(({ type }) => type)).toEqual(['add_dependency', 'remove_dependency']);
    await refused(404, /./, () => remove(eve, entered));
  });

  it('is not found under what is no dependency, there or not', async () => {
    const nothing = await remove(eve, { owner: 'ada', repo: 'nothing', index: 1 });
    for (const other of [
      { owner: 'ada', repo: 'tog', index: 2 },
      { owner: 'ada', repo: 'tog', index: 99 },
      { owner: 'ada', repo: 'hidden', index: 1 },
      { owner: 'nobody', repo: 'tog', index: 1 },
      { index: 1 },
    ]) {
      await refused(404, nothing.body.message, () => remove(eve, other));
    }
    expect(await waits()).toBe(1);
  });

  it('stays for whoever does not write where the waiting one is: 403 for what is there and what is not', async () => {
    for (const other of [entered, { ...entered, repo: 'nothing' }])
      await refused(403, /permission/, () => remove(stranger, other));
    // Nor does reading what is waited for let anybody end it.
    await refused(403, /permission/, () => remove(ada, entered));
    await refused(403, /permission/, () =>
      ada.call('DELETE', '/repos/ada/tog/issues/1/blocks', { owner: 'eve', repo: 'ev', index: 1 }),
    );
    await refused(404, /./, () =>
      eve.call('DELETE', '/repos/ada/tog/issues/1/blocks', { owner: 'eve', repo: 'ev', index: 1 }),
    );
  });

  it('is ended by the path it was added with after what is waited for got another name', async () => {
    await ada.call('PATCH', '/repos/ada/tog', { name: 'gone' });
    const { status, text } = await remove(eve, entered);
    expect([status, text]).toEqual([200, expect.not.stringContaining('gone')]);
    expect(await waits()).toBe(0);
  });

  it('is ended also when that is archived, which nobody is told, and whose timeline stays as it is', async () => {
    await ada.call('PATCH', '/repos/ada/tog', { archived: true });
    expect((await remove(eve, entered)).status).toBe(200);
    const told = (await ada.call('GET', '/repos/ada/tog/issues/1/timeline')).items;
    expect([await waits(), told.map(({ type }) => type)]).toEqual([0, ['add_dependency']]);
  });

  it('is ended once when two end it at a time', async () => {
    const replies = await Promise.all(Array.from({ length: 4 }, () => remove(eve, entered)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    expect(await waits()).toBe(0);
  });
});

describe('what is told of a dependency', () => {
  const kindsSeenBy = async (who: Person, number: number) => {
    const { items, headers } = await who.call('GET', at(number, 'timeline'));
    expect(headers.get('x-total-count')).toBe(String(items.length));
    return items.map(({ type }) => type);
  };

  it('is for those who may read the other issue', async () => {
    const [a, b, hidden] = [await issue(), await issue(), await issue('hidden')];
    await depend(a, b);
    for (const method of ['POST', 'DELETE'])
      await ada.call(method, at(a), { index: hidden, owner: 'ada', repo: 'hidden' });
    expect(await kindsSeenBy(ada, a)).toEqual(['add_dependency', 'add_dependency', 'remove_dependency']);
    expect(await kindsSeenBy(stranger, a)).toEqual(['add_dependency']);
  });

  it('is not written where the conversation about what is waited for is locked, but by writers', async () => {
    await stranger.call('POST', '/user/repos', { name: 'own' });
    const own = (await stranger.call('POST', '/repos/stranger/own/issues', { title: 'mine' })).body.number;
    const quiet = await issue();
    await ada.call('PUT', `/repos/ada/one/issues/${quiet}/lock`);
    const entries = () => kindsSeenBy(ada, quiet);
    for (const [method, status] of [
      ['POST', 201],
      ['DELETE', 200],
    ] as const) {
      const blocker = { index: quiet, owner: 'ada', repo: 'one' };
      const path = `/repos/stranger/own/issues/${own}`;
      expect((await stranger.call(method, `${path}/dependencies`, blocker)).status).toBe(status);
      expect(await entries()).toEqual(['lock']);
      const told = (await stranger.call('GET', `${path}/timeline`)).items;
      expect(told.at(-1)?.['type']).toBe(method === 'POST' ? 'add_dependency' : 'remove_dependency');
      const waiting = { index: own, owner: 'stranger', repo: 'own' };
      const other = await stranger.call(method, `/repos/ada/one/issues/${quiet}/blocks`, waiting);
      expect(other.status).toBe(method === 'POST' ? 422 : 404);
      expect(await entries()).toEqual(['lock']);
    }
    const a = await issue();
    expect((await depend(a, quiet, writer)).status).toBe(201);
    expect((await writer.call('DELETE', at(a), { index: quiet })).status).toBe(200);
    expect(await entries()).toEqual(['lock', 'add_dependency', 'remove_dependency']);
  });

  it('is not written where the issue that is waited for is in an archived repository: 423', async () => {
    const [a, old, before] = [await issue(), await issue('two'), await issue('two')];
    const on = (index: number) => ({ index, owner: 'ada', repo: 'two' });
    expect((await ada.call('POST', at(a), on(before))).status).toBe(201);
    await ada.call('PATCH', '/repos/ada/two', { archived: true });
    await refused(423, /./, () => ada.call('POST', at(a), on(old)));
    await refused(423, /./, () => ada.call('DELETE', at(a), on(before)));
    await ada.call('PATCH', '/repos/ada/two', { archived: false });
  });
});

describe('closing with open dependencies', () => {
  it('is refused for an issue until they are closed: 412', async () => {
    const [a, b] = [await issue(), await issue()];
    await depend(a, b);
    const message = 'cannot close this issue because it still has open dependencies';
    await refused(412, message, () => close(a));
    // Everything or nothing: what else the edit wanted is not done either.
    await refused(412, message, () =>
      ada.call('PATCH', `/repos/ada/one/issues/${a}`, {
        title: 'New',
        due_date: '2030-01-01T00:00:00Z',
        state: 'closed',
      }),
    );
    await close(b);
    expect((await close(a)).body).toMatchObject({ state: 'closed' });
    // Closed it stays, though what it depended on is open again.
    await ada.call('PATCH', `/repos/ada/one/issues/${b}`, { state: 'open' });
    expect((await close(a)).body).toMatchObject({ state: 'closed' });
  });

  it('is refused for a pull request: 412', async () => {
    await pushedRepository(ada, 'work', scene.folder);
    await pushBranch(join(scene.folder, 'work'), 'topic', { a: '1' });
    const made = await ada.call('POST', '/repos/ada/work/pulls', { head: 'topic', base: 'main', title: 'P' });
    const b = await issue('work');
    const { number } = made.body;
    expect((await ada.call('POST', at(number, 'dependencies', 'work'), { index: b })).status).toBe(201);
    const message = 'cannot close this pull request because it still has open dependencies';
    const edit = { state: 'closed' };
    await refused(412, message, () => ada.call('PATCH', `/repos/ada/work/pulls/${number}`, edit));
    await refused(412, message, () => ada.call('PATCH', `/repos/ada/work/issues/${number}`, edit));
    await close(b, 'work');
    expect((await ada.call('PATCH', `/repos/ada/work/pulls/${number}`, edit)).body).toMatchObject({
      state: 'closed',
    });
  });

  it('a new issue has none: `closed` on creation works', async () => {
    const made = await ada.call('POST', '/repos/ada/one/issues', { title: 'x', closed: true });
    expect([made.status, made.body['state']]).toEqual([201, 'closed']);
  });
});

describe('at the same time', () => {
  it('halves of a circle become no circle', async () => {
    for (let round = 0; round < 8; round++) {
      const ring = [await issue(), await issue(), await issue()];
      const replies = await Promise.all(
        ring.map((number, index) => depend(number, ring[(index + 1) % 3] ?? 0)),
      );
      expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 422]);
    }
  });

  it('a dependency and the closing of what waits: one of both orders', async () => {
    for (let round = 0; round < 8; round++) {
      const [a, b] = [await issue(), await issue()];
      const [closed, made] = await Promise.all([close(a), depend(a, b)]);
      expect(made.status).toBe(201);
      expect([201, 412]).toContain(closed.status);
      const { body } = await ada.call('GET', `/repos/ada/one/issues/${a}`);
      expect(body['state']).toBe(closed.status === 201 ? 'closed' : 'open');
    }
  });
});
