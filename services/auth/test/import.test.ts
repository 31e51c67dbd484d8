import { randomUUID } from 'node:crypto';
import { silentLog } from '@croft/runtime';
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDumpSource } from '../src/import/dump/dump-source.ts';
import { importGoTrue } from '../src/import/import-gotrue.ts';
import { openLiveSource } from '../src/import/live-source.ts';
import type { ImportReport } from '../src/import/report.ts';
import type { Source } from '../src/import/source.ts';
import { bearer, claimsOf, PASSWORD, type Subject, startSubject } from './harness.ts';
import { signIn } from './support/administrators.ts';
import { type GoTrueDatabase, gotrueDatabase } from './support/gotrue-database.ts';
import { OLD_PASSWORD, populate } from './support/gotrue-people.ts';
import { checksummed, ethereumWallet, messageFor } from './support/wallets.ts';

// People who move in from GoTrue sign in as they did, and who was signed in still is.

const SETTINGS = { AUTHSVC_MAILER_AUTOCONFIRM: 'true', AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true' };

const take = async (
  subject: Subject,
  source: Source,
  more: { dryRun?: boolean; auditLog?: boolean } = {},
) => {
  try {
    const order = { dryRun: false, auditLog: false, onProgress: () => {}, ...more };
    return await importGoTrue(subject.context, { ...order, source });
  } finally {
    await source.close();
  }
};
const counted = ({ counts }: ImportReport) => Object.fromEntries(counts);

describe.each([
  ['v2.150', 'the database itself'],
  ['v2.150', 'a dump'],
  ['head', 'the database itself'],
  ['head', 'a dump'],
] as const)('from GoTrue %s by %s', (shape, way) => {
  let subject: Subject;
  let old: GoTrueDatabase;
  let all: Awaited<ReturnType<typeof populate>>;
  let report: ImportReport;
  const source = async () =>
    way === 'a dump'
      ? await openDumpSource(await old.dump(), old.schema)
      : await openLiveSource(subject.databaseUrl, old.schema, silentLog);
  const refresh = (refresh_token: unknown) =>
    subject.post('/token?grant_type=refresh_token', { refresh_token });

  beforeAll(async () => {
    subject = await startSubject(SETTINGS);
    await subject.post('/signup', { email: 'taken@old.example', password: PASSWORD });
    old = await gotrueDatabase(subject.databaseUrl, shape);
    all = await populate(old, shape);
    report = await take(subject, await source(), { auditLog: true });
  });
  afterAll(async () => {
    await old[Symbol.asyncDispose]();
    await subject[Symbol.asyncDispose]();
  });

  it('everything is counted, and what is in the way is named', () => {
    const { twin, taken, gina } = all.people;
    const more = shape === 'head' ? 1 : 0;
    expect(counted(report)).toEqual({
      users: { read: 11, made: 9, known: 0, left: 2 },
      identities: { read: 4, made: 3, known: 0, left: 1 },
      factors: { read: 3, made: 2, known: 0, left: 1 },
      // The users of two were left, one user is deleted, and one is over.
      sessions: { read: 11 + more, made: 7 + more, known: 0, left: 4 },
      'refresh tokens': { read: 30, made: 18, known: 0, left: 12 },
      'audit entries': { read: 1, made: 1, known: 0, left: 0 },
    });
    const names = report.conflicts.join('\n');
    expect(names).toContain(`user ${taken.id} (taken@old.example): somebody here has its address`);
    // Of the two, the one whose address is proven has it.
    expect(names).toContain(
      `user ${twin.id} (bob@old.example): another row of the source has the same address`,
    );
    expect(report.conflictCount).toBe(2);
    expect(report.unprovable).toEqual([
      expect.stringContaining(`of user ${gina.id}: webauthn factors cannot be proven here`),
    ]);
    expect([...report.notes.keys()].join('\n')).toMatch(/encrypted \(DB_ENCRYPTION\)/);
  });

  it('people sign in with the passwords they had, whatever their hashes are', async () => {
    const { ada, bob, carl, dora } = all.people;
    for (const [credentials, id] of [
      [{ email: 'ADA@old.example', password: OLD_PASSWORD }, ada.id],
      [{ email: bob.email, password: OLD_PASSWORD }, bob.id],
      [{ email: carl.email, password: 'mytestpassword' }, carl.id],
      [{ phone: '+14155550100', password: OLD_PASSWORD }, dora.id],
    ] as const) {
      const answer = await subject.post('/token?grant_type=password', credentials);
      expect([answer.text, answer.body.user?.id]).toEqual([answer.text, id]);
    }
    for (const email of ['gina@old.example', 'frank@old.example', 'taken@old.example']) {
      expect(
        (await subject.post('/token?grant_type=password', { email, password: OLD_PASSWORD })).status,
      ).toBe(400);
    }
  });

  it('identities, metadata and times are as they were', async () => {
    const session = await signIn(subject, 'ada@old.example', OLD_PASSWORD);
    const { body } = await subject.get('/user', bearer(session));
    expect(body).toMatchObject({
      id: all.people.ada.id,
      phone: '',
      created_at: '2024-03-01T10:00:00.123456Z',
      user_metadata: { name: 'tab\tline\nbackslash \\N "quote" 🦊' },
      factors: [
        { id: all.factor.id, friendly_name: 'phone of ada', status: 'verified', factor_type: 'totp' },
      ],
    });
    const identities = body['identities'] as { provider: string; id: string }[];
    expect(identities.map(({ provider, id }) => [provider, id]).sort()).toEqual([
      ['email', all.people.ada.id],
      ['google', '1234567890'],
    ]);
  });

  it('second factors go on: the same app, the same codes', async () => {
    const session = await signIn(subject, 'ada@old.example', OLD_PASSWORD);
    const path = `/factors/${all.factor.id}`;
    const challenge = await subject.post(`${path}/challenge`, {}, bearer(session));
    const code = new TOTP({ secret: all.factor.secret }).generate({
      timestamp: subject.clock.now().getTime(),
    });
    const answer = await subject.post(
      `${path}/verify`,
      { challenge_id: challenge.body.id, code },
      bearer(session),
    );
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    expect(claimsOf(subject, answer)['aal']).toBe('aal2');
    expect(await subject.snapshot()).not.toContain(all.factor.secret);
  });

  it('who was signed in stays so: the token is taken once, and answered with one of ours', async () => {
    const { id, tokens } = all.sessions.raised;
    expect(await subject.snapshot()).not.toContain(tokens[2]);
    const first = await refresh(tokens[2]);
    expect([first.status, first.body.user?.id]).toEqual([200, all.people.ada.id]);
    expect(claimsOf(subject, first)).toMatchObject({
      session_id: id,
      aal: 'aal2',
      amr: [{ method: 'password', timestamp: Date.parse('2024-03-01T10:00:00Z') / 1000 }],
    });
    // The answer got lost: the client has nothing else, and gets the same again.
    expect((await refresh(tokens[2])).body.refresh_token).toBe(first.body.refresh_token);
    const second = await refresh(first.body.refresh_token);
    expect(second.status).toBe(200);
    // From now on it is an old token like others, and whoever has it ends the session.
    expect((await refresh(tokens[2])).body['error_code']).toBe('refresh_token_already_used');
    expect((await refresh(second.body.refresh_token)).status).toBe(400);
  });

  it('of many at once with the same token all get the same one', async () => {
    const { tokens } = all.sessions.ofAnonymous;
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(tokens[2])));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    expect(answers[0]?.body.user?.['is_anonymous']).toBe(shape === 'head');
  });

  it('what others could present opens nothing', async () => {
    const { ended, banned } = all.sessions;
    const before = await subject.snapshot();
    for (const text of [
      ended.tokens[2],
      'abcdefghijkl',
      'A'.repeat(22),
      'A'.repeat(55),
      '',
      "'; drop table users",
    ]) {
      expect((await refresh(text)).body['error_code']).toBe('refresh_token_not_found');
    }
    expect((await refresh(banned.tokens[2])).body['error_code']).toBe('user_banned');
    expect(await subject.snapshot()).toBe(before);
  });

  it('another run takes nothing, and brings nothing back that ended here', async () => {
    const session = await signIn(subject, 'carl@old.example', 'mytestpassword');
    await subject.send('POST', '/logout', undefined, bearer(session));
    const ada = await signIn(subject, 'ada@old.example', OLD_PASSWORD);
    await subject.send('POST', '/logout', undefined, bearer(ada));
    const before = await subject.snapshot();
    const again = await take(subject, await source(), { auditLog: true });
    expect(await subject.snapshot()).toBe(before);
    expect([...again.counts.values()].map(({ made }) => made)).toEqual(Array(again.counts.size).fill(0));
    expect(again.changedThere).toEqual([]);
    // A dump writes the same values in other letters.
    const other = await (way === 'a dump'
      ? openLiveSource(subject.databaseUrl, old.schema, silentLog)
      : openDumpSource(await old.dump(), old.schema));
    expect((await take(subject, other)).changedThere).toEqual([]);
    expect((await refresh(all.sessions.raised.tokens[2])).status).toBe(400);
  });

  it('what came since the first run comes with the second', async () => {
    const id = randomUUID();
    const late = { id, email: 'late@old.example', created_at: '2026-01-01T00:00:00Z' };
    await old.put('users', { ...late, is_sso_user: false, is_anonymous: false });
    const again = await take(subject, await source());
    expect(again.counts.get('users')).toMatchObject({ made: 1, known: 9 });
  });

  if (shape === 'head') {
    it('tokens that GoTrue derives and does not store are taken as well', async () => {
      const [, live] = all.sessions.derived ?? [];
      const answer = await refresh(live);
      expect(answer.status).toBe(200);
    });
  }
});

describe('tokens of GoTrue', () => {
  const prepared = async () => {
    const subject = await startSubject(SETTINGS);
    const old = await gotrueDatabase(subject.databaseUrl, 'head');
    const all = await populate(old, 'head');
    await old.script(`delete from :schema.users where id = '${all.people.twin.id}'`);
    return { subject, old, ...all, live: () => openLiveSource(subject.databaseUrl, old.schema, silentLog) };
  };

  it('one that was revoked there ends the session here', async () => {
    const { subject, old, sessions, live } = await prepared();
    await take(subject, await live());
    const refresh = (refresh_token: unknown) =>
      subject.post('/token?grant_type=refresh_token', { refresh_token });
    expect((await refresh(sessions.first.tokens[0])).body['error_code']).toBe('refresh_token_already_used');
    expect((await refresh(sessions.first.tokens[2])).body['error_code']).toBe('refresh_token_already_used');
    expect((await refresh(sessions.second.tokens[2])).status).toBe(200);
    // What the sessions list shows is what can go on.
    const session = await signIn(subject, 'bob@old.example', OLD_PASSWORD);
    const { body } = await subject.get('/user/sessions', bearer(session));
    const ids = ((body['sessions'] ?? body) as { id: string }[]).map(({ id }) => id);
    expect(ids).toContain(sessions.third.id);
    expect(ids).not.toContain(sessions.first.id);
    expect(ids).not.toContain(sessions.tokenless.id);
    // Signing out everywhere ends what nobody refreshed yet.
    await subject.send('POST', '/logout', undefined, bearer(session));
    expect((await refresh(sessions.third.tokens[2])).body['error_code']).toBe('refresh_token_not_found');
    await take(subject, await live());
    expect((await refresh(sessions.third.tokens[2])).body['error_code']).toBe('refresh_token_not_found');
    await old[Symbol.asyncDispose]();
    await subject[Symbol.asyncDispose]();
  });

  it('one that GoTrue rotates between two runs is the one that counts', async () => {
    const { subject, old, sessions, people, live } = await prepared();
    await take(subject, await live());
    const { id, tokens } = sessions.first;
    await old.script(`update :schema.refresh_tokens set revoked = true where session_id = '${id}'`);
    await old.put('refresh_tokens', {
      id: 9000,
      token: 'newestnewest',
      user_id: people.bob.id,
      revoked: false,
      parent: tokens[2],
      session_id: id,
    });
    await take(subject, await live());
    const refresh = (refresh_token: unknown) =>
      subject.post('/token?grant_type=refresh_token', { refresh_token });
    expect((await refresh('newestnewest')).status).toBe(200);
    expect((await refresh(sessions.derived?.[1])).status).toBe(200);
    expect((await refresh(sessions.derived?.[0])).body['error_code']).toBe('refresh_token_already_used');
    await old[Symbol.asyncDispose]();
    await subject[Symbol.asyncDispose]();
  });

  it('cost nothing where nothing was imported, and one look more where something was', async () => {
    await using empty = await startSubject(SETTINGS);
    const { body } = await empty.post('/signup', { email: 'a@b.example', password: PASSWORD });
    const cost = (token: unknown, on: Subject) =>
      on.countRoundTrips(() => on.post('/token?grant_type=refresh_token', { refresh_token: token }));
    expect(await cost(body.refresh_token, empty)).toBe(1);
    expect(await cost('not a token', empty)).toBe(0);
    expect(await cost('abcdefghijkl', empty)).toBe(2);
    for (let count = 0; count < 5; count++) expect(await cost('bcdefghijklm', empty)).toBe(0);
    const { subject, old, sessions, live } = await prepared();
    await take(subject, await live());
    expect(await cost(sessions.first.tokens[2], subject)).toBe(2);
    await old[Symbol.asyncDispose]();
    await subject[Symbol.asyncDispose]();
  });
});

it('a dry run writes nothing and tells what would be', async () => {
  await using subject = await startSubject(SETTINGS);
  await subject.post('/signup', { email: 'taken@old.example', password: PASSWORD });
  await using old = await gotrueDatabase(subject.databaseUrl, 'head');
  await populate(old, 'head');
  const before = await subject.snapshot();
  const report = await take(subject, await openLiveSource(subject.databaseUrl, old.schema, silentLog), {
    dryRun: true,
    auditLog: true,
  });
  expect(await subject.snapshot()).toBe(before);
  expect(report.counts.get('users')).toEqual({ read: 11, made: 10, known: 0, left: 1 });
  expect(report.conflicts.join()).toContain('taken@old.example');
});

it('whatever ends an import, the next one goes on, over as many batches as it takes', async () => {
  await using subject = await startSubject(SETTINGS);
  await using old = await gotrueDatabase(subject.databaseUrl, 'head');
  await old.script(`insert into :schema.users (id, email, created_at)
    select gen_random_uuid(), 'person-' || n || '@old.example', now() from generate_series(1, 1234) n;
    insert into :schema.sessions (id, user_id, created_at) select gen_random_uuid(), id, now() from :schema.users;
    insert into :schema.refresh_tokens (token, session_id, revoked)
    select 'token-' || n || '-' || s.id, s.id, n = 1 from :schema.sessions s, generate_series(1, 2) n`);
  for (const open of [
    () => openLiveSource(subject.databaseUrl, old.schema, silentLog),
    async () => await openDumpSource(await old.dump(), old.schema),
  ]) {
    const whole = await open();
    const broken: Source = {
      ...whole,
      async *rows(table) {
        let batches = 0;
        for await (const rows of whole.rows(table)) {
          if (table === 'sessions' && batches++ === 1) throw new Error('the line is cut');
          yield rows;
        }
      },
    };
    await expect(take(subject, broken)).rejects.toThrow('the line is cut');
  }
  const report = await take(subject, await openLiveSource(subject.databaseUrl, old.schema, silentLog));
  expect(report.counts.get('users')).toEqual({ read: 1234, made: 0, known: 1234, left: 0 });
  const { made = 0, known = 0, left } = report.counts.get('sessions') ?? {};
  // The order of a dump is another than that of the ids, so the two beginnings have different rows.
  expect([made + known, known >= 500 && known <= 1000, left]).toEqual([1234, true, 0]);
  const row = await subject.rows.autocommit().row<{ live: number; waiting: number }>`
    select (select count(*) from :schema.refresh_tokens where revoked_at is null) as live,
      (select count(*) from :schema.refresh_tokens t
        join :schema.imported_refresh_tokens i on i.token_hash = t.token_hash and i.is_live) as waiting`;
  expect(row).toEqual({ live: 1234, waiting: 1234 });
});

it('a wallet and an account from elsewhere are their owner’s here too', async () => {
  await using subject = await startSubject({ ...SETTINGS, AUTHSVC_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true' });
  await using old = await gotrueDatabase(subject.databaseUrl, 'head');
  const [wallet, id] = [ethereumWallet(), randomUUID()];
  await old.put('users', { id, is_sso_user: false, is_anonymous: false, created_at: '2025-01-01T00:00:00Z' });
  await old.put('identities', {
    id: randomUUID(),
    user_id: id,
    provider: 'web3',
    provider_id: `web3:ethereum:${checksummed(wallet.address)}`,
    identity_data: {},
  });
  await take(subject, await openLiveSource(subject.databaseUrl, old.schema, silentLog));
  const message = messageFor(wallet, { issuedAt: subject.clock.now() });
  const answer = await subject.post('/token?grant_type=web3', {
    chain: 'ethereum',
    message,
    signature: wallet.sign(message),
  });
  expect([answer.status, answer.body.user?.id]).toEqual([200, id]);
});

it('a row that cannot be ends the import with a sentence, and what came before stays', async () => {
  await using subject = await startSubject(SETTINGS);
  const rows = { users: [{ id: randomUUID(), created_at: '2025-01-01' }], identities: [] as object[] };
  const source = (more: object[]): Source => ({
    name: 'made up',
    has: () => true,
    async *rows(table) {
      yield table === 'users' ? rows.users : table === 'identities' ? (more as never[]) : [];
    },
    close: async () => {},
  });
  const identity = { id: randomUUID(), user_id: rows.users[0]?.id, provider: 'x', provider_id: 'y' };
  for (const bad of [{ identity_data: '{"half' }, { identity_data: {}, created_at: 'no time' }]) {
    await expect(take(subject, source([{ ...identity, ...bad }]))).rejects.toThrow(
      /^The import stopped among the rows of identities: .*run it again/s,
    );
  }
  const report = await take(subject, source([{ ...identity, identity_data: {} }]));
  expect(counted(report)).toMatchObject({ users: { known: 1 }, identities: { made: 1 } });
});
