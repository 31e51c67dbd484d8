import { accessTokens } from '@croft/access-token';
import type { Tx } from '@croft/sql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Answer,
  bearer,
  claimsOf,
  confirmedUser,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';

// Row-level security as PostgREST does it: the signature of the token is checked, then the statement runs under the
// role the token names, with its claims in `request.jwt.claims`. The table and its policies are an application's.

let subject: Subject;
let ada: Answer;
let bob: Answer;

beforeAll(async () => {
  subject = await startSubject();
  ada = await confirmedUser(subject, someone('ada'));
  bob = await confirmedUser(subject, someone('bob'));
  await subject.rows.transaction((tx) =>
    tx.script(`
      create table public.notes (
        id bigint generated always as identity primary key,
        owner uuid not null default auth.uid(),
        text text not null
      );
      create table public.unguarded (id int); -- the canary: everybody sees what no policy guards
      insert into public.unguarded values (1);
      alter table public.notes enable row level security;
      grant usage on schema public to anon, authenticated, service_role;
      grant select, insert, update, delete on public.notes to anon, authenticated, service_role;
      grant select on public.unguarded to anon, authenticated, service_role;
      create policy own on public.notes for all to authenticated
        using (auth.uid() = owner) with check (auth.uid() = owner);
    `),
  );
  await as(ada, (tx) => tx.run`insert into public.notes (text) values ('of ada')`);
  await as(bob, (tx) => tx.run`insert into public.notes (text) values ('of bob')`);
});
afterAll(() => subject[Symbol.asyncDispose]());

/** One request to the application's database by the bearer of a session, of hand-made claims, or of nothing. */
function as<T>(
  caller: Answer | Record<string, unknown> | undefined,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const claims = caller === undefined ? {} : 'body' in caller ? claimsOf(subject, caller as Answer) : caller;
  const role = 'role' in claims ? String(claims['role']) : 'anon';
  return subject.rows.transaction(async (tx) => {
    await tx.row`select set_config('request.jwt.claims', ${JSON.stringify(claims)}, true)`;
    await tx.row`select set_config('role', ${role}, true)`;
    const who = await tx.row<{ name: string }>`select current_user as name`;
    expect(who?.name).toBe(role);
    return await work(tx);
  });
}

const idOf = (answer: Answer): string => String(answer.body.user?.id);
const texts = (tx: Tx) =>
  tx.rows<{ text: string }>`select text from public.notes order by id`.then((rows) =>
    rows.map(({ text }) => text),
  );

describe('a policy on auth.uid()', () => {
  test('two users see their own rows and nothing else', async () => {
    expect(await as(ada, texts)).toEqual(['of ada']);
    expect(await as(bob, texts)).toEqual(['of bob']);
  });

  test('a row is its writer’s without anybody saying so', async () => {
    const owners = await as(
      { role: 'service_role' },
      (tx) => tx.rows<{ owner: string }>`select owner from public.notes order by id`,
    );
    expect(owners.map(({ owner }) => owner)).toEqual([idOf(ada), idOf(bob)]);
  });

  test('anon sees none, service_role all', async () => {
    expect(await as(undefined, texts)).toEqual([]);
    expect(await as({ role: 'service_role' }, texts)).toEqual(['of ada', 'of bob']);
    expect(await as(undefined, (tx) => tx.rows`select * from public.unguarded`)).toHaveLength(1);
  });

  test('nobody changes, removes or plants a row of another', async () => {
    expect(
      await as(bob, (tx) => tx.run`update public.notes set text = 'bob was here' where text = 'of ada'`),
    ).toBe(0);
    expect(await as(bob, (tx) => tx.run`delete from public.notes where owner = ${idOf(ada)}`)).toBe(0);
    const plant = (tx: Tx) => tx.run`insert into public.notes (owner, text) values (${idOf(ada)}, 'planted')`;
    await expect(as(bob, plant)).rejects.toThrow(/row-level security/);
    await expect(
      as(undefined, (tx) => tx.run`insert into public.notes (text) values ('x')`),
    ).rejects.toThrow();
    const give = (tx: Tx) => tx.run`update public.notes set owner = ${idOf(ada)}`;
    await expect(as(bob, give)).rejects.toThrow(/row-level security/);
    expect(await as({ role: 'service_role' }, texts)).toEqual(['of ada', 'of bob']);
  });

  test('claims of a request end with it, also on a connection that is used again', async () => {
    await as(ada, texts);
    const after = await subject.rows.transaction(
      (tx) => tx.row<{ uid: string | null; role: string | null; name: string }>`
        select auth.uid() as uid, auth.role() as role, current_user as name`,
    );
    expect(after).toMatchObject({ uid: null, role: null });
    expect(after?.name).not.toBe('authenticated');
  });

  test('a token of another secret never gets as far as the database', async () => {
    const forged = accessTokens('another secret, of the same length as ours', () =>
      subject.clock.now().getTime(),
    ).sign({
      sub: idOf(ada),
      role: 'service_role',
      exp: Math.floor(subject.clock.now().getTime() / 1000) + 60,
    });
    const refused = () => as({ ...ada, body: { access_token: forged } } as Answer, texts);
    expect(refused).toThrow();
    expect((await subject.get('/user', { authorization: `Bearer ${forged}` })).status).toBe(403);
  });
});

describe('what policies call', () => {
  test('answers with what the service signed', async () => {
    const seen = await as(
      ada,
      (tx) => tx.row<{ uid: string; role: string; email: string; aal: string }>`
        select auth.uid() as uid, auth.role() as role, auth.email() as email, auth.jwt() ->> 'aal' as aal`,
    );
    const user = (await subject.get('/user', bearer(ada))).body;
    expect(seen).toEqual({ uid: user.id, role: 'authenticated', email: user['email'], aal: 'aal1' });
  });

  test('reads the settings of older PostgRESTs, one a claim', async () => {
    const uid = await subject.rows.transaction(async (tx) => {
      await tx.row`select set_config('request.jwt.claim.sub', ${idOf(bob)}, true)`;
      await tx.row`select set_config('role', 'authenticated', true)`;
      return await texts(tx);
    });
    expect(uid).toEqual(['of bob']);
  });
});

describe('the tables of auth itself', () => {
  test.each(['anon', 'authenticated', 'service_role'])('are closed to %s', async (role) => {
    const tables = await subject.rows.autocommit().rows<{ name: string; secured: boolean }>`
      select relname as name, relrowsecurity as secured from pg_class
      where relnamespace = 'auth'::regnamespace and relkind = 'r'`;
    expect(tables.length).toBeGreaterThan(8);
    expect(tables.filter(({ secured }) => !secured)).toEqual([]);
    for (const { name } of tables) {
      const read = (tx: Tx) => tx.script(`select * from auth.${name}`);
      await expect(as({ role }, read), name).rejects.toThrow(/permission denied/);
    }
  });
});
