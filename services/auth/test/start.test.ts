import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { openDatabase } from '@croft/sql';
import { capturedMails, temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AuthSettings,
  authSettings,
  createAdministrator,
  importFromGoTrue,
  migrateAuth,
  openAdminTasks,
  startAuth,
} from '../src/index.ts';
import { JWT_SECRET, PASSWORD, readMail, someone } from './harness.ts';
import { gotrueDatabase } from './support/gotrue-database.ts';

type TestDatabase = Awaited<ReturnType<typeof testDatabase>>;
const environment = {
  AUTHSVC_SITE_URL: 'https://site.example',
  AUTHSVC_API_EXTERNAL_URL: 'http://127.0.0.1:1',
  AUTHSVC_API_PORT: '0',
  AUTHSVC_JWT_SECRET: JWT_SECRET,
};
const settingsFor = (more: Record<string, string> = {}): AuthSettings =>
  readSettings(authSettings, { ...environment, ...more });
const secrets = { atRestKey: new Secret('key') };

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  database = await testDatabase();
  folder = await temporaryFolder();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});
const start = (more?: Record<string, string>, databaseUrl = database.url, key = secrets.atRestKey) =>
  startAuth({
    settings: settingsFor(more),
    databaseUrl,
    dataFolder: folder.path,
    log: silentLog,
    version: '1.2.3',
    secrets: { atRestKey: key },
  });

describe('the service as the launcher runs it', () => {
  test('migrates, answers, delivers mail by itself, and closes within its grace', async () => {
    const service = await start();
    expect(service.name).toBe('auth');
    const health = await fetch(`${service.address}/health`);
    expect(await health.json()).toMatchObject({ version: '1.2.3' });
    const email = someone();
    const signUp = await fetch(`${service.address}/signup`, {
      method: 'POST',
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    expect(signUp.status).toBe(200);
    let mails = await capturedMails(`${folder.path}/mail`);
    for (let n = 0; mails.length === 0 && n < 100; n++) {
      await sleep(50);
      mails = await capturedMails(`${folder.path}/mail`);
    }
    const followed = await fetch(
      service.address + readMail(mails[0]).url.pathname + readMail(mails[0]).url.search,
      { redirect: 'manual' },
    );
    expect(followed.headers.get('location')).toContain('#access_token=');
    const startedAt = performance.now();
    await Promise.all([service.close(2_000), service.close(2_000)]);
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    await expect(fetch(`${service.address}/health`)).rejects.toThrow('fetch failed');
  });

  test('several processes on one database', async () => {
    const [one, two] = await Promise.all([start({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' }), start()]);
    const body = JSON.stringify({ email: someone(), password: PASSWORD });
    const session = (await (await fetch(`${one.address}/signup`, { method: 'POST', body })).json()) as {
      refresh_token: string;
    };
    const refresh = (address: string) =>
      fetch(`${address}/token?grant_type=refresh_token`, { method: 'POST', body: JSON.stringify(session) });
    const answers = await Promise.all([one, two, one, two].map(({ address }) => refresh(address)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await Promise.all([one.close(1_000), two.close(1_000)]);
  });

  test('with another at-rest key than the tables were written with it does not start, until that is what is wanted', async () => {
    await using fresh = await testDatabase();
    const other = new Secret('another key');
    const mine = await start({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' }, fresh.url);
    const body = JSON.stringify({ email: someone(), password: PASSWORD });
    const session = await (await fetch(`${mine.address}/signup`, { method: 'POST', body })).text();
    // Beside the first one as well: every other answer of the two would be that nobody knows the token.
    await expect(start({}, fresh.url, other)).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(/^The tables of the schema "auth" .*CROFT_AT_REST_KEY.*secrets\.json/),
    });
    await mine.close(1_000);
    const options = {
      settings: settingsFor(),
      databaseUrl: fresh.url,
      log: silentLog,
      version: '1.2.3',
      secrets: { atRestKey: other },
    };
    await using tasks = new AsyncDisposableStack();
    const admin = tasks.adopt(await openAdminTasks(options), (one) => one.close());
    const order = { type: 'magiclink', email: someone(), newEmail: '', password: '', redirectTo: '' };
    await expect(admin.generateLink(order)).rejects.toThrow(/another at-rest key/);
    await using gotrue = await gotrueDatabase(fresh.url, 'head');
    const from = { from: undefined, dump: undefined, schema: gotrue.schema };
    const run = { auditLog: false, onProgress: () => {} };
    await importFromGoTrue(options, from, { ...run, dryRun: true });
    await expect(importFromGoTrue(options, from, { ...run, dryRun: false })).rejects.toThrow(
      /another at-rest key/,
    );
    const again = await start({}, fresh.url);
    const refresh = `${again.address}/token?grant_type=refresh_token`;
    expect((await fetch(refresh, { method: 'POST', body: session })).status).toBe(200);
    await again.close(1_000);

    const rows = openDatabase({ url: fresh.url, schema: 'auth', log: silentLog, poolSize: 1 });
    await rows.autocommit().script('comment on table auth.croft_migrations is null');
    await rows.close();
    await (await start({}, fresh.url, other)).close(1_000);
    await expect(start({}, fresh.url)).rejects.toThrow(/another at-rest key/);
  });

  test('a busy port is named, and nothing stays open', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    await expect(start({ AUTHSVC_API_PORT: String(port) })).rejects.toThrow(`127.0.0.1:${port} is in use`);
    other.close();
  });

  test('a mail server without an address to send from is refused at once', async () => {
    await expect(start({ AUTHSVC_SMTP_HOST: 'mail.example' })).rejects.toThrow(
      'AUTHSVC_SMTP_ADMIN_EMAIL is required',
    );
  });

  test('behind pgbouncer in transaction mode', async () => {
    const service = await start({ AUTHSVC_DB_PREPARE: 'false', AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
    const body = JSON.stringify({ email: someone(), password: PASSWORD });
    expect((await fetch(`${service.address}/signup`, { method: 'POST', body })).status).toBe(200);
    await service.close(1_000);
  });
});

describe('settings', () => {
  test('what is required is named, all at once', () => {
    expect(() => readSettings(authSettings, {})).toThrow(
      /AUTHSVC_SITE_URL[\s\S]*AUTHSVC_API_EXTERNAL_URL[\s\S]*AUTHSVC_JWT_SECRET/,
    );
  });

  test('spellings of the contract and of the reference', () => {
    const settings = settingsFor({
      AUTHSVC_API_PORT: '',
      PORT: '9999',
      DATABASE_URL: 'postgresql://x',
      AUTHSVC_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '10',
      AUTHSVC_MAILER_OTP_EXP: '15m',
      AUTHSVC_PASSWORD_REQUIRED_CHARACTERS: 'abc:AB\\:C::0',
      AUTHSVC_URI_ALLOW_LIST: 'https://{a,b}.example/**, app://x',
    });
    expect(settings.API_PORT).toBe(9999);
    expect(settings.DB_DATABASE_URL?.reveal()).toBe('postgresql://x');
    expect(settings.SECURITY_REFRESH_TOKEN_REUSE_INTERVAL).toBe(10_000);
    expect(settings.MAILER_OTP_EXP).toBe(900_000);
    expect(settings.PASSWORD_REQUIRED_CHARACTERS).toEqual(['abc', 'AB:C', '0']);
    expect(settings.URI_ALLOW_LIST).toEqual(['https://{a,b}.example/**', 'app://x']);
  });

  test.each([
    ['AUTHSVC_URI_ALLOW_LIST', 'https://[a'],
    ['AUTHSVC_SITE_URL', 'site'],
    ['AUTHSVC_DB_DRIVER', 'mysql'],
  ])('%s=%s is refused', (name, value) => {
    expect(() => settingsFor({ [name]: value })).toThrow(name);
  });
});

describe('administrators', () => {
  const admin = (more: object = {}) =>
    createAdministrator({
      settings: settingsFor(),
      databaseUrl: database.url,
      log: silentLog,
      secrets,
      email: 'root@example.com',
      password: 'root password',
      ...more,
    });
  const look = async () => {
    const rows = openDatabase({ url: database.url, schema: 'auth', log: silentLog });
    const user = await rows.autocommit().row<{
      role: string;
      password: string;
      confirmed: boolean;
      users: number;
      sessions: number;
    }>`
      select role, encrypted_password as password, confirmed_at is not null as confirmed,
        (select count(*) from :schema.users where email = 'root@example.com') as users,
        (select count(*) from :schema.sessions s where s.user_id = u.id) as sessions
      from :schema.users u where email = 'root@example.com'`;
    await rows.close();
    return user;
  };

  test('one is made, confirmed, with the first of the roles; again changes nothing', async () => {
    await admin({ settings: settingsFor({ AUTHSVC_JWT_ADMIN_ROLES: 'boss,deputy' }) });
    const first = await look();
    expect(first).toMatchObject({ role: 'boss', confirmed: true, users: 1 });
    await admin({ settings: settingsFor({ AUTHSVC_JWT_ADMIN_ROLES: 'boss,deputy' }) });
    expect(await look()).toEqual(first);
  });

  test('can sign in, with a token that says the role', async () => {
    await admin();
    const service = await start();
    const body = JSON.stringify({ email: 'root@example.com', password: 'root password' });
    const answer = await fetch(`${service.address}/token?grant_type=password`, { method: 'POST', body });
    expect(await answer.json()).toMatchObject({ user: { role: 'service_role' } });
    await service.close(1_000);
  });

  test('a squatter on the address loses password and sessions', async () => {
    const before = await look();
    expect(before?.sessions).toBe(1);
    await admin({ password: 'another password' });
    expect(await look()).toMatchObject({ sessions: 0, users: 1 });
    expect((await look())?.password).not.toBe(before?.password);
  });

  test('a weak password or no address is refused', async () => {
    await expect(admin({ password: '123' })).rejects.toThrow('Password should be at least 6 characters.');
    await expect(admin({ email: 'root' })).rejects.toThrow('invalid format');
  });
});

describe('the schema', () => {
  test('migrating tells what was applied, and nothing the second time', async () => {
    await using fresh = await testDatabase();
    const options = {
      settings: settingsFor({ AUTHSVC_DB_NAMESPACE: 'people' }),
      databaseUrl: fresh.url,
      log: silentLog,
    };
    expect(await migrateAuth(options)).toContain('0001_users-and-sessions');
    expect(await migrateAuth(options)).toEqual([]);
  });

  test("on GoTrue's own schema it does not start, changes nothing there, and says what to do", async () => {
    await using fresh = await testDatabase();
    await using gotrue = await gotrueDatabase(fresh.url, 'head', 'auth');
    const rows = openDatabase({ url: fresh.url, schema: gotrue.schema, log: silentLog, poolSize: 1 });
    const relations = () => rows.autocommit().rows`
      select relname from pg_class where relnamespace = 'auth'::regnamespace order by relname`;
    const before = await relations();
    await expect(start({}, fresh.url)).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(
        /^The schema "auth" is in use by another program: .*AUTHSVC_DB_NAMESPACE.*"Moving in from GoTrue" in docs\/operations\.md/,
      ),
    });
    expect(await relations()).toEqual(before);
    await rows.close();
  });

  test('policies can use uid(), role(), email() and jwt(), as the roles they are written for', async () => {
    const rows = openDatabase({ url: database.url, schema: 'auth', log: silentLog });
    const claims = {
      sub: '00000000-0000-4000-8000-000000000001',
      role: 'authenticated',
      email: 'ada@example.com',
    };
    const seen = await rows.transaction(async (tx) => {
      await tx.run`set local role authenticated`;
      const before =
        await tx.row`select :schema.uid() as uid, :schema.role() as role, :schema.email() as email, :schema.jwt() as jwt`;
      await tx.run`select set_config('request.jwt.claims', ${JSON.stringify(claims)}, true)`;
      const after =
        await tx.row`select :schema.uid() as uid, :schema.role() as role, :schema.email() as email, :schema.jwt() as jwt`;
      return { before, after };
    });
    expect(seen.before).toEqual({ uid: null, role: null, email: null, jwt: null });
    expect(seen.after).toEqual({
      uid: claims.sub,
      role: 'authenticated',
      email: 'ada@example.com',
      jwt: claims,
    });
    const refused = rows.transaction(async (tx) => {
      await tx.run`set local role authenticated`;
      return await tx.rows`select * from :schema.users`;
    });
    await expect(refused).rejects.toThrow('permission denied');
    await rows.close();
  });
});
