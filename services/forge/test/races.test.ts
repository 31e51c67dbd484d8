import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import {
  commit,
  type Person,
  personWith,
  pushBranch,
  pushedRepository,
  tokenFor,
  useForge,
} from './forge.ts';

const scene = useForge();
let ada: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
});
const path = '/repos/ada/work/pulls';
const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const statuses = (replies: { status: number }[]) => replies.map(({ status }) => status).sort();

async function openPull(branch: string, files: Record<string, string>): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, files, 'origin/main');
  return (await ada.call('POST', path, { head: branch, base: 'main', title: branch })).body.number;
}

it('many first calls of one user make one account', async () => {
  const token = tokenFor('newcomer', { sub: randomUUID() });
  const replies = await times(20, () =>
    personWith('newcomer', token, () => scene.address).call('GET', '/user'),
  );
  expect(new Set(replies.map(({ body }) => `${body.id} ${body.login}`)).size).toBe(1);
  const rows = await scene.sql.rows`select id from :schema.users where login like 'newcomer%'`;
  expect(rows).toHaveLength(1);
});

it('users who want one name get different ones', async () => {
  const replies = await times(12, () => scene.person('popular').call('GET', '/user'));
  expect(statuses(replies)).toEqual(Array(12).fill(200));
  expect(new Set(replies.map(({ body }) => body.login)).size).toBe(12);
});

it('one name is given to one repository', async () => {
  const replies = await times(8, () => ada.call('POST', '/user/repos', { name: 'contested' }));
  expect(statuses(replies)).toEqual([201, ...Array(7).fill(409)]);
});

it('issues and pull requests created at once get numbers without gaps', async () => {
  await pushedRepository(ada, 'busy', scene.folder);
  const busy = join(scene.folder, 'busy');
  for (let index = 0; index < 5; index++) await pushBranch(busy, `b${index}`, { [`${index}`]: 'x' });
  const replies = await times(55, (index) =>
    index < 5
      ? ada.call('POST', '/repos/ada/busy/pulls', { head: `b${index}`, base: 'main', title: `${index}` })
      : index < 10
        ? ada.call('POST', '/repos/ada/busy/issues', { title: '' })
        : ada.call('POST', '/repos/ada/busy/issues', { title: `${index}` }),
  );
  const made = replies.filter(({ status }) => status === 201).map(({ body }) => body.number);
  expect(made.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
});

it('twin pull requests created at once are one', async () => {
  await pushBranch(tree, 'twin', { twin: '1' });
  const before = await scene.sql.row`select last_number, pulls from :schema.repositories where name = 'work'`;
  const replies = await times(6, () => ada.call('POST', path, { head: 'twin', base: 'main', title: 'twin' }));
  expect(statuses(replies)).toEqual([201, ...Array(5).fill(409)]);
  const after = await scene.sql.row<{ last_number: number }>`
    select last_number, pulls from :schema.repositories where name = 'work'`;
  expect(after).toEqual({
    last_number: Number((before as { last_number: number }).last_number) + 1,
    pulls: Number((before as { pulls: number }).pulls) + 1,
  });
});

it('a branch that moves between preparing and merging: 409, and nothing changes', async () => {
  const number = await openPull('late', { late: '1' });
  // The moment the merge is announced is the last in which somebody can be faster; a trigger is.
  const elsewhere = await git(bare, 'commit-tree', '-m', 'elsewhere', '-p', 'main', 'main^{tree}');
  await scene.sql.script(`
    create function forge.slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.5); return new; end';
    create trigger slow before insert on forge.merges for each row execute function forge.slow()`);
  const merging = ada.call('POST', `${path}/${number}/merge`, {});
  await expect
    .poll(
      () =>
        scene.sql.rows`select 1 from pg_stat_activity
          where query like '%merges%' and wait_event = 'PgSleep' and datname = current_database()`,
    )
    .toHaveLength(1);
  await git(bare, 'update-ref', 'refs/heads/main', elsewhere);
  const { status, body } = await merging;
  await scene.sql.script('drop trigger slow on forge.merges');
  expect(status).toBe(409);
  expect(body.message).toContain('updated meanwhile');
  expect(await git(bare, 'rev-parse', 'main')).toBe(elsewhere);
  expect((await ada.call('GET', `${path}/${number}`)).body).toMatchObject({ merged: false, state: 'open' });
  expect(await scene.sql.rows`select * from :schema.merges`).toEqual([]);
  expect((await ada.call('POST', `${path}/${number}/merge`, {})).status).toBe(200);
});

/** Runs work with a trigger on pull requests that does something before they are updated. */
async function withTrigger<T>(body: string, work: () => Promise<T>): Promise<T> {
  await scene.sql.script(`
    create function forge.meddle() returns trigger language plpgsql as 'begin ${body} return new; end';
    create trigger meddle before update on forge.pulls for each row execute function forge.meddle()`);
  try {
    return await work();
  } finally {
    await scene.sql.script('drop trigger meddle on forge.pulls; drop function forge.meddle()');
  }
}
async function whenAsleep(): Promise<void> {
  await expect
    .poll(
      () => scene.sql.rows`
        select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
    )
    .toHaveLength(1);
}

it('a base that is to change while the merge is recorded stays: that comes too late', async () => {
  await git(tree, 'push', '-q', 'origin', 'main:refs/heads/second-base');
  const number = await openPull('retargeted', { retargeted: '1' });
  const before = await git(bare, 'rev-parse', 'main');
  // The intent is the moment from which on the base must not change.
  await scene.sql.script(`
    create function forge.slow_intent() returns trigger language plpgsql as 'begin perform pg_sleep(0.6); return new; end';
    create trigger slow_intent before insert on forge.merges for each row execute function forge.slow_intent()`);
  const merging = ada.call('POST', `${path}/${number}/merge`, {});
  await whenAsleep();
  const editing = await ada.call('PATCH', `${path}/${number}`, { base: 'second-base' });
  const merged = await merging;
  await scene.sql.script('drop trigger slow_intent on forge.merges; drop function forge.slow_intent()');
  expect([merged.status, editing.status]).toEqual([200, 409]);
  expect(await git(bare, 'rev-parse', 'main')).not.toBe(before);
  expect((await ada.call('GET', `${path}/${number}`)).body).toMatchObject({
    merged: true,
    base: { ref: 'main' },
  });
  expect(await scene.sql.rows`select * from :schema.merges`).toEqual([]);
});

it('an edit and the record of a merge do not deadlock', async () => {
  const number = await openPull('locked', { locked: '1' });
  const replies = await withTrigger('perform pg_sleep(0.4);', async () => {
    const merging = ada.call('POST', `${path}/${number}/merge`, {});
    await whenAsleep();
    return await Promise.all([
      merging,
      ada.call('PATCH', `${path}/${number}`, { title: 'y', allow_maintainer_edit: true }),
    ]);
  });
  expect(replies.map(({ status }) => status)).toEqual([200, 201]);
});

it('a merge whose record fails for a moment is recorded all the same', async () => {
  const number = await openPull('blip', { blip: '1' });
  await scene.sql.script('create sequence forge.blips');
  const blip = `if nextval(''forge.blips'') <= 2 then raise ''blip''; end if;`;
  const { status } = await withTrigger(blip, () => ada.call('POST', `${path}/${number}/merge`, {}));
  await scene.sql.script('drop sequence forge.blips');
  expect(status).toBe(200);
  expect((await ada.call('GET', `${path}/${number}`)).body).toMatchObject({ merged: true, state: 'closed' });
  expect(await scene.sql.rows`select * from :schema.merges`).toEqual([]);
});

it('a head that is pushed to while it is merged is not deleted: 409, and merged all the same', async () => {
  const number = await openPull('kept', { kept: '1' });
  const newer = await git(bare, 'rev-parse', 'main');
  const { status, body } = await withTrigger('perform pg_sleep(0.4);', async () => {
    const merging = ada.call('POST', `${path}/${number}/merge`, { delete_branch_after_merge: true });
    await whenAsleep();
    await git(bare, 'update-ref', 'refs/heads/kept', newer);
    return await merging;
  });
  expect(status).toBe(409);
  expect(body.message).toBe('merged, but the head branch is kept: it was pushed to meanwhile');
  expect(await git(bare, 'rev-parse', 'kept')).toBe(newer);
  expect((await ada.call('GET', `${path}/${number}`)).body['merged']).toBe(true);
});

it('pushes at once to different branches all arrive, and their pull requests follow', async () => {
  const names = ['w0', 'w1', 'w2', 'w3'];
  const numbers = [];
  for (const name of names) numbers.push(await openPull(name, { [name]: '0' }));
  const heads = await Promise.all(
    names.map(async (name) => {
      const copy = join(scene.folder, `copy-${name}`);
      await git(scene.folder, 'clone', '-q', '-b', name, ada.remote('ada/work'), copy);
      const head = await commit(copy, { [name]: '1' }, 'more');
      await git(copy, 'push', '-q', 'origin', name);
      return head;
    }),
  );
  const shown = await Promise.all(numbers.map((number) => ada.call('GET', `${path}/${number}`)));
  expect(shown.map(({ body }) => body.head.sha)).toEqual(heads);
  const refs = await Promise.all(numbers.map((number) => git(bare, 'rev-parse', `refs/pull/${number}/head`)));
  expect(refs).toEqual(heads);
});

/** Runs work with a trigger that makes writing to a table take long. */
async function withSlow<T>(event: string, table: string, work: () => Promise<T>): Promise<T> {
  await scene.sql.script(`
    create function forge.dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(1); return new; end';
    create trigger dawdle before ${event} on forge.${table} for each row execute function forge.dawdle()`);
  try {
    return await work();
  } finally {
    await scene.sql.script(`drop trigger dawdle on forge.${table}; drop function forge.dawdle()`);
  }
}
const head = () => git(bare, 'symbolic-ref', 'HEAD');
const defaultBranch = async () => (await ada.call('GET', '/repos/ada/work')).body['default_branch'];

it('a branch that becomes the default branch first is not deleted: 403, and it stays', async () => {
  await git(tree, 'push', '-q', 'origin', 'origin/main:refs/heads/coming');
  const replies = await withSlow('update of default_branch', 'repositories', async () => {
    const editing = ada.call('PATCH', '/repos/ada/work', { default_branch: 'coming' });
    await whenAsleep();
    return await Promise.all([editing, ada.call('DELETE', '/repos/ada/work/branches/coming')]);
  });
  expect(replies.map(({ status }) => status)).toEqual([200, 403]);
  expect([await defaultBranch(), await head()]).toEqual(['coming', 'refs/heads/coming']);
  expect(await git(bare, 'rev-parse', 'coming')).toBe(await git(tree, 'rev-parse', 'origin/main'));
  await ada.call('PATCH', '/repos/ada/work', { default_branch: 'main' });
});

it('a branch that is deleted first does not become the default branch: 422, and nothing changes', async () => {
  await git(tree, 'push', '-q', 'origin', 'origin/main:refs/heads/going');
  const replies = await withSlow('insert', 'pushes', async () => {
    const deleting = ada.call('DELETE', '/repos/ada/work/branches/going');
    await whenAsleep();
    return await Promise.all([ada.call('PATCH', '/repos/ada/work', { default_branch: 'going' }), deleting]);
  });
  expect(replies.map(({ status }) => status)).toEqual([422, 204]);
  expect([await defaultBranch(), await head()]).toEqual(['main', 'refs/heads/main']);
});

it('whatever meets the removal of its repository finds it, or finds that it is not there', async () => {
  const eve = scene.person('eve');
  for (let round = 0; round < 10; round++) {
    const at = `/repos/eve/brief${round}`;
    await eve.call('POST', '/user/repos', { name: `brief${round}`, auto_init: true });
    const file = { content: 'eA==', message: 'x' };
    const asked = [
      ['GET', ''],
      ['GET', '/branches'],
      ['GET', '/contents'],
      ['GET', '/commits'],
      ['GET', '/raw/README.md'],
      ['GET', '/languages'],
      ['GET', '/git/trees/main?recursive=true'],
      ['GET', '/archive/main.zip'],
      ['POST', '/contents/x', file],
      ['POST', '/branches', { new_branch_name: 'x' }],
      ['POST', '/forks', {}],
      ['POST', '/pulls', { head: 'main', base: 'none', title: 'x' }],
    ] as const;
    const removal = new Promise((turn) => setTimeout(turn, 2 * round)).then(() => eve.call('DELETE', at));
    const replies = asked.flatMap(([method, path, body]) =>
      [0, 1, 2].map(async (turn) => {
        await new Promise((started) => setTimeout(started, 10 * turn));
        // An answer that has begun breaks off: of an archive, say.
        const { status } = await eve.call(method, `${at}${path}`, body).catch(() => ({ status: 0 }));
        return `${status < 500 ? 'answered' : status} ${method} ${path}`;
      }),
    );
    expect((await removal).status).toBe(204);
    expect((await Promise.all(replies)).filter((reply) => !reply.startsWith('answered'))).toEqual([]);
  }
});
