import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Log, silentLog, systemClock } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { enqueue, startOutbox } from '@croft/sql';
import { type ReceivedMail, type SmtpSinkOptions, smtpPort, smtpSink } from '@croft/testing';
import { describe, expect, test } from 'vitest';
import { mailEffect, mailPayload } from '../src/effects/mail.ts';
import { chooseMailer } from '../src/outside/mail/mailer.ts';
import { openTemplates } from '../src/outside/mail/templates.ts';
import { codeHashOf } from '../src/rules/codes/one-time-code.ts';
import { type MailData, type MailKind, type MailOrder, mailKinds } from '../src/rules/mail/mail-kinds.ts';
import { authSettings } from '../src/settings.ts';
import { PASSWORD, readMail, type Subject, someone, startSubject } from './harness.ts';

const CERTIFICATE = fileURLToPath(new URL('support/tls/localhost.crt', import.meta.url));
const cert = await readFile(CERTIFICATE);
const key = await readFile(new URL('support/tls/localhost.key', import.meta.url));

const smtpSettings = (port: number, more: Record<string, string> = {}): Record<string, string> => ({
  AUTHSVC_SMTP_HOST: '127.0.0.1',
  AUTHSVC_SMTP_PORT: String(port),
  AUTHSVC_SMTP_ADMIN_EMAIL: 'no-reply@site.example',
  ...more,
});

async function deliver(subject: Subject): Promise<void> {
  await (await subject.outbox()).drain();
}

async function waiting(subject: Subject): Promise<unknown> {
  return await subject.rows.autocommit().row`
    select count(*) filter (where parked_at is null) as waiting, count(parked_at) as parked from :schema.outbox`;
}

describe('over SMTP', () => {
  test('a confirmation: addressed, with a text beside the HTML, from the configured sender', async () => {
    await using sink = await smtpSink();
    await using subject = await startSubject(
      smtpSettings(sink.port, {
        AUTHSVC_SMTP_SENDER_NAME: 'The Site, Inc.',
        AUTHSVC_MAILER_SUBJECTS_CONFIRMATION: 'Willkommen, schön!',
        AUTHSVC_MAILER_URLPATHS_CONFIRMATION: '/auth/v1/verify',
      }),
    );
    const email = someone();
    await subject.post('/signup', { email, password: PASSWORD });
    await deliver(subject);
    const [mail] = await sink.received(1);
    expect(mail).toMatchObject({ from: 'no-reply@site.example', to: [email] });
    expect(mail?.headers.get('from')).toBe('"The Site, Inc." <no-reply@site.example>');
    expect(mail?.headers.get('content-type')).toMatch(/^multipart\/alternative/);
    expect(mail?.headers.get('auto-submitted')).toBe('auto-generated');
    expect(mail?.headers.get('message-id')).toMatch(/^<[a-z0-9]+-\d+@site\.example>$/);
    expect(mail?.raw).toMatch(/text\/plain[\s\S]*text\/html/);
    expect(mail?.text).toContain('<h2>Confirm your signup</h2>');
    expect(mail?.text).toContain('>Confirm your mail</a>');
    const sent = readMail(mail);
    expect(sent.url.pathname).toBe('/auth/v1/verify');
    expect((await subject.post('/verify', { type: 'signup', token_hash: sent.token })).status).toBe(200);
    expect(await waiting(subject)).toEqual({ waiting: 0, parked: 0 });
  });

  test('one connection serves many mails', async () => {
    await using sink = await smtpSink();
    await using subject = await startSubject(smtpSettings(sink.port));
    await subject.post('/signup', { email: someone(), password: PASSWORD });
    await deliver(subject);
    await subject.post('/signup', { email: someone(), password: PASSWORD });
    await deliver(subject);
    const [first, second] = await sink.received(2);
    expect(second?.session).toBe(first?.session);
  });

  test('a mail server that is down delays the mail and does not fail the sign-up', async () => {
    await using way = await smtpPort();
    await using subject = await startSubject(smtpSettings(way.port));
    const answer = await subject.post('/signup', { email: someone(), password: PASSWORD });
    expect(answer.status).toBe(200);
    await deliver(subject);
    expect(await waiting(subject)).toEqual({ waiting: 1, parked: 0 });

    await using back = await smtpSink();
    way.leadTo(back);
    subject.clock.advance(60_000);
    await deliver(subject);
    expect(await back.received(1)).toHaveLength(1);
    expect(await waiting(subject)).toEqual({ waiting: 0, parked: 0 });
    expect(
      (await subject.post('/verify', { type: 'signup', token_hash: readMail(back.mails[0]).token })).status,
    ).toBe(200);
  });

  test('a mail that is delivered twice, because a process died in between, is recognised by its Message-ID', async () => {
    await using sink = await smtpSink();
    await using subject = await startSubject(smtpSettings(sink.port));
    await subject.post('/signup', { email: someone(), password: PASSWORD });
    await subject.rows.autocommit().script('create table auth.kept as select * from auth.outbox');
    await deliver(subject);
    // The record that it was delivered got lost: the row is there again.
    await subject.rows.autocommit()
      .run`insert into :schema.outbox overriding system value select * from :schema.kept`;
    await deliver(subject);
    const [first, second] = await sink.received(2);
    expect(first?.headers.get('message-id')).toMatch(/^<[a-z0-9]+-1@site\.example>$/);
    expect(second?.headers.get('message-id')).toBe(first?.headers.get('message-id'));
  });

  test('a mail whose time is up is taken back: it is not sent besides its next attempt', async () => {
    const release = Promise.withResolvers<void>();
    await using sink = await smtpSink({ beforeAccepting: () => release.promise });
    const settings = readSettings(authSettings, {
      AUTHSVC_SITE_URL: 'https://site.example',
      AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
      AUTHSVC_JWT_SECRET: 'a-secret-of-the-tests-that-nobody-else-has',
      ...smtpSettings(sink.port),
    });
    const mailer = chooseMailer(settings, '/nowhere', silentLog, systemClock);
    const send = (id: string, signal: AbortSignal): Promise<void> =>
      mailer.send({ id, kind: 'invite', to: 'a@b.example', subject: 's', html: 'h', text: 't' }, signal);
    // More than there are connections, so that some have not begun.
    const signal = AbortSignal.timeout(500);
    const attempts = await Promise.allSettled(Array.from({ length: 12 }, (_, at) => send(`a${at}`, signal)));
    expect(attempts.map(({ status }) => status)).toEqual(attempts.map(() => 'rejected'));
    while (sink.connections > 0) await sleep(25);
    release.resolve();
    await send('b', new AbortController().signal);
    await mailer.close();
    expect(sink.mails.map(({ headers }) => headers.get('message-id'))).toEqual(['<b@site.example>']);
  });

  test('an address the server refuses for good is given up and parked, not tried for ever', async () => {
    await using sink = await smtpSink({
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error('no such mailbox'), { responseCode: 550 })),
    });
    await using subject = await startSubject(smtpSettings(sink.port));
    await subject.post('/signup', { email: someone(), password: PASSWORD });
    await deliver(subject);
    expect(await waiting(subject)).toEqual({ waiting: 0, parked: 1 });
  });
});

describe('encryption', () => {
  const login = { AUTHSVC_SMTP_USER: 'mailer', AUTHSVC_SMTP_PASS: 'its password' };
  // The certificate names `localhost` and no address.
  const trusted = { AUTHSVC_SMTP_HOST: 'localhost', AUTHSVC_SMTP_TLS_CA_FILE: CERTIFICATE };

  /** A server that takes mails only from those who log in, and remembers every attempt to. */
  async function guardedSink(options: SmtpSinkOptions) {
    const logins: string[] = [];
    const sink = await smtpSink({
      authOptional: false,
      onAuth({ username = '', password }, session, done) {
        logins.push(`${username}:${password} ${session.secure ? 'encrypted' : 'in clear'}`);
        if (username === 'mailer' && password === 'its password') done(null, { user: username });
        else done(Object.assign(new Error('not you'), { responseCode: 535 }));
      },
      ...options,
    });
    return { sink, logins };
  }

  async function sendOne(environment: Record<string, string>): Promise<Subject> {
    const subject = await startSubject(environment);
    await subject.post('/signup', { email: someone(), password: PASSWORD });
    await deliver(subject);
    return subject;
  }

  async function lastError(subject: Subject): Promise<string> {
    const row = await subject.rows.autocommit().row<{ last_error: string }>`
      select last_error from :schema.outbox`;
    return row?.last_error ?? '';
  }

  test.each(['auto', 'starttls'])('STARTTLS before the password (%s)', async (mode) => {
    const { sink, logins } = await guardedSink({ key, cert });
    await using _ = sink;
    await using subject = await sendOne(
      smtpSettings(sink.port, { ...trusted, ...login, AUTHSVC_SMTP_TLS: mode }),
    );
    expect(await waiting(subject)).toEqual({ waiting: 0, parked: 0 });
    expect((await sink.received(1))[0]).toMatchObject({ user: 'mailer', secure: true });
    expect(logins).toEqual(['mailer:its password encrypted']);
  });

  test('TLS from the first byte, on any port', async () => {
    const { sink, logins } = await guardedSink({ key, cert, secure: true });
    await using _ = sink;
    await using subject = await sendOne(
      smtpSettings(sink.port, { ...trusted, ...login, AUTHSVC_SMTP_TLS: 'implicit' }),
    );
    expect(await waiting(subject)).toEqual({ waiting: 0, parked: 0 });
    expect((await sink.received(1))[0]).toMatchObject({ user: 'mailer', secure: true });
    expect(logins).toEqual(['mailer:its password encrypted']);
  });

  test('without a password STARTTLS is used when it is offered', async () => {
    await using sink = await smtpSink({ key, cert });
    await using subject = await sendOne(smtpSettings(sink.port, trusted));
    expect((await sink.received(1))[0]?.secure).toBe(true);
    expect(await waiting(subject)).toEqual({ waiting: 0, parked: 0 });
  });

  test.each(['auto', 'starttls'])(
    'somebody who hides STARTTLS gets neither password nor mail (%s), and the mail waits',
    async (mode) => {
      const { sink, logins } = await guardedSink({ allowInsecureAuth: true });
      await using _sink = sink;
      await using way = await smtpPort();
      way.leadTo(sink);
      await using subject = await sendOne(
        smtpSettings(way.port, { ...trusted, ...login, AUTHSVC_SMTP_TLS: mode }),
      );
      expect(logins).toEqual([]);
      expect(sink.mails).toEqual([]);
      expect(await waiting(subject)).toEqual({ waiting: 1, parked: 0 });

      const honest = await guardedSink({ key, cert });
      await using _ = honest.sink;
      way.leadTo(honest.sink);
      subject.clock.advance(60_000);
      await deliver(subject);
      expect((await honest.sink.received(1))[0]?.secure).toBe(true);
    },
  );

  test('starttls is meant also without a password', async () => {
    await using sink = await smtpSink();
    await using subject = await sendOne(smtpSettings(sink.port, { AUTHSVC_SMTP_TLS: 'starttls' }));
    expect(sink.mails).toEqual([]);
    expect(await waiting(subject)).toEqual({ waiting: 1, parked: 0 });
  });

  test.each([
    ['that nobody trusts', { AUTHSVC_SMTP_HOST: 'localhost' }],
    ['for another name', { ...trusted, AUTHSVC_SMTP_HOST: '127.0.0.1' }],
  ])('a certificate %s is refused', async (_, where) => {
    for (const secure of [false, true]) {
      const { sink, logins } = await guardedSink({ key, cert, secure });
      await using _sink = sink;
      const encryption = { AUTHSVC_SMTP_TLS: secure ? 'implicit' : 'auto' };
      await using subject = await sendOne({ ...smtpSettings(sink.port, login), ...where, ...encryption });
      expect(logins).toEqual([]);
      expect(sink.mails).toEqual([]);
      expect(await waiting(subject)).toEqual({ waiting: 1, parked: 0 });
      expect(await lastError(subject)).toMatch(/certificate|altnames/i);
    }
  });

  test('no password gets into the log', async () => {
    const lines: unknown[] = [];
    const write = (fields: object, message: string): void => void lines.push({ ...fields, message });
    const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };
    for (const onlyMethod of ['PLAIN', 'LOGIN']) {
      const { sink, logins } = await guardedSink({ key, cert, authMethods: [onlyMethod] });
      await using _ = sink;
      const logging = { ...trusted, ...login, AUTHSVC_SMTP_LOGGING_ENABLED: 'true' };
      await using subject = await startSubject(smtpSettings(sink.port, logging), log);
      await subject.post('/signup', { email: someone(), password: PASSWORD });
      await deliver(subject);
      expect(logins).toHaveLength(1);
    }
    const all = JSON.stringify(lines);
    expect(all).toContain('AUTH');
    for (const secret of ['its password', '\0mailer\0its password']) {
      expect(all).not.toContain(secret);
      expect(all).not.toContain(Buffer.from(secret).toString('base64').replace(/=+$/, ''));
    }
  });

  test('in clear only when the operator says so', async () => {
    const { sink, logins } = await guardedSink({ key, cert, allowInsecureAuth: true });
    await using _ = sink;
    await using subject = await sendOne(smtpSettings(sink.port, { ...login, AUTHSVC_SMTP_TLS: 'none' }));
    expect((await sink.received(1))[0]).toMatchObject({ user: 'mailer', secure: false });
    expect(logins).toEqual(['mailer:its password in clear']);
    expect(await waiting(subject)).toEqual({ waiting: 0, parked: 0 });
  });

  test('a refused password can be mended: the mail waits', async () => {
    const { sink } = await guardedSink({ key, cert });
    await using _ = sink;
    const wrong = { ...trusted, ...login, AUTHSVC_SMTP_PASS: 'another' };
    await using subject = await sendOne(smtpSettings(sink.port, wrong));
    expect(sink.mails).toEqual([]);
    expect(await waiting(subject)).toEqual({ waiting: 1, parked: 0 });
    expect(await lastError(subject)).not.toContain('another');
  });

  test.each([
    ['SMTP_TLS_CA_FILE', '/no/such/file', /SMTP_TLS_CA_FILE cannot be read/],
    ['SMTP_TLS_CA_FILE', fileURLToPath(import.meta.url), /SMTP_TLS_CA_FILE has no certificates/],
    ['SMTP_HEADERS', '{"Bcc":"all@example.com"}', /SMTP_HEADERS must not set Bcc/],
  ])('a wrong %s is told at start', (name, value, message) => {
    const settings = readSettings(authSettings, {
      AUTHSVC_SITE_URL: 'https://site.example',
      AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
      AUTHSVC_JWT_SECRET: 'a-secret-of-the-tests-that-nobody-else-has',
      ...smtpSettings(25, { [`AUTHSVC_${name}`]: value }),
    });
    expect(() => chooseMailer(settings, '/nowhere', silentLog, systemClock)).toThrow(message);
  });
});

describe('every kind of mail', () => {
  const kinds = Object.keys(mailKinds) as MailKind[];
  const data: MailData = {
    siteUrl: 'https://site.example',
    confirmationUrl: 'https://auth.example/verify?token=abc&type=x&redirect_to=https://site.example',
    email: 'ada@example.com',
    token: '012345',
    tokenHash: 'abc',
    data: {},
    redirectTo: 'https://site.example',
    newEmail: 'new@example.com',
  };

  /** The code that a mail brings, of somebody. */
  async function noteCode({ context, rows }: Subject, order: Omit<MailOrder, 'expiresAt'>, expiresAt: Date) {
    const hash = context.atRest.hashCode(codeHashOf(order.to, order.data.token));
    await rows.autocommit().run`
      with person as (
        insert into :schema.users (id, created_at, updated_at) values (gen_random_uuid(), now(), now()) returning id)
      insert into :schema.one_time_tokens (user_id, token_type, relates_to, token_hash, expires_at, created_at, updated_at)
      select id, 'recovery_token', ${order.to}, ${hash}, ${expiresAt}, now(), now() from person`;
  }

  /** Puts mails into the outbox and delivers them to a server, as the service does. */
  async function sendAll(
    orders: readonly Omit<MailOrder, 'expiresAt'>[],
    environment: Record<string, string> = {},
    log: Log = silentLog,
  ): Promise<readonly ReceivedMail[]> {
    await using sink = await smtpSink();
    await using subject = await startSubject(smtpSettings(sink.port, environment));
    const { context, clock } = subject;
    const { settings, database, atRest, outside } = context;
    const expiresAt = new Date(clock.now().getTime() + 3_600_000);
    for (const order of orders) {
      await noteCode(subject, order, expiresAt);
      await enqueue(database.autocommit(), 'mail', mailPayload(atRest, { ...order, expiresAt }));
    }
    const mailer = chooseMailer(settings, '/nowhere', log, clock);
    const templates = openTemplates(settings, outside.http, log, clock);
    const outbox = startOutbox({
      database,
      handlers: { mail: mailEffect({ atRest, templates, mailer, settings, clock, database }) },
      log: silentLog,
    });
    await outbox.drain();
    await outbox.close();
    await mailer.close();
    expect(await waiting(subject)).toEqual({ waiting: 0, parked: 0 });
    return await sink.received(orders.length);
  }

  test("has the contract's subject, and both parts", async () => {
    const mails = await sendAll(kinds.map((kind) => ({ kind, to: `${kind}@example.com`, data })));
    for (const mail of mails) {
      const kind = mail.to[0]?.split('@')[0] as MailKind;
      expect(mail.headers.get('subject')).toBe(mailKinds[kind].defaultSubject);
      expect(mail.html).toContain(`<h2>${mailKinds[kind].heading}</h2>`);
      expect(mail.plain).toContain(mailKinds[kind].heading);
      expect(mail.plain.includes(data.confirmationUrl)).toBe(kind !== 'reauthentication');
      expect(mail.plain).toContain('012345');
    }
    expect(new Set(mails.map(({ headers }) => headers.get('message-id'))).size).toBe(kinds.length);
  });

  test("carries the operator's headers with its kind in them", async () => {
    const mails = await sendAll(
      kinds.map((kind) => ({ kind, to: `${kind}@example.com`, data })),
      {
        AUTHSVC_SMTP_HEADERS: '{"X-Tag":["auth","mail-$messageType"],"X-Team":"a, b"}',
      },
    );
    for (const mail of mails) {
      const kind = mail.to[0]?.split('@')[0];
      expect(mail.raw).toContain(`\r\nX-Tag: auth\r\nX-Tag: mail-${kind}\r\nX-Team: a, b\r\n`);
    }
  });

  const INJECTION = 'x\r\nBcc: all@example.com\r\nX-Evil: 1\r\n\r\nA body of my own';
  test.each([
    'siteUrl',
    'confirmationUrl',
    'email',
    'token',
    'tokenHash',
    'redirectTo',
    'newEmail',
    'sendingTo',
    'data',
  ] as const)('no header through %s, wherever a subject shows it', async (field) => {
    const everything =
      '{{ .SiteURL }}{{ .ConfirmationURL }}{{ .Email }}{{ .Token }}{{ .TokenHash }}{{ .RedirectTo }}{{ .NewEmail }}{{ .SendingTo }}{{ .Data.name }}{{ .Data }}';
    const subjects = kinds.map((kind) => [`AUTHSVC_${mailKinds[kind].subjectSetting}`, everything]);
    const change = { [field]: field === 'data' ? { name: INJECTION, [INJECTION]: 1 } : INJECTION };
    const orders = kinds.map((kind) => ({ kind, to: 'ada@example.com', data: { ...data, ...change } }));
    const mails = await sendAll(orders, Object.fromEntries(subjects));
    for (const mail of mails) {
      expect(mail.to).toEqual(['ada@example.com']);
      expect([...mail.headers.keys()].sort()).toEqual([
        'auto-submitted',
        'content-type',
        'date',
        'from',
        'message-id',
        'mime-version',
        'subject',
        'to',
      ]);
      expect(mail.plain).not.toMatch(/^(?:Bcc|X-Evil):/m);
    }
  });

  test.each([
    'ada@example.com\r\nBcc: all@example.com',
    'ada@example.com, all@example.com',
    'ada@example.com>\r\nRCPT TO:<all@example.com',
    '"a\r\nBcc: all@example.com"@example.com',
  ])('no second recipient through the address %j', async (to) => {
    await using sink = await smtpSink();
    const settings = readSettings(authSettings, {
      AUTHSVC_SITE_URL: 'https://site.example',
      AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
      AUTHSVC_JWT_SECRET: 'a-secret-of-the-tests-that-nobody-else-has',
      ...smtpSettings(sink.port),
    });
    const mailer = chooseMailer(settings, '/nowhere', silentLog, systemClock);
    const mail = { id: '1', kind: 'invite', to, subject: 's', html: 'h', text: 't' } as const;
    await mailer.send(mail, new AbortController().signal).catch(() => {});
    await mailer.close();
    expect(sink.mails.flatMap((one) => one.to)).not.toContain('all@example.com');
    for (const { headers } of sink.mails) expect(headers.has('bcc')).toBe(false);
  });

  test('the log of SMTP_LOGGING_ENABLED has who and when, and neither contents nor codes', async () => {
    const lines: unknown[] = [];
    const write = (fields: object, message: string): void => void lines.push({ ...fields, message });
    const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };
    await sendAll(
      [{ kind: 'recovery', to: 'ada@example.com', data }],
      { AUTHSVC_SMTP_LOGGING_ENABLED: 'true' },
      log,
    );
    const all = JSON.stringify(lines);
    expect(lines).toContainEqual(
      expect.objectContaining({ kind: 'recovery', to: 'ada@example.com', message: 'a mail was sent' }),
    );
    expect(all).toContain('RCPT TO:<ada@example.com>');
    expect(all).not.toMatch(/012345|token=|Reset/);
    lines.length = 0;
    await sendAll([{ kind: 'recovery', to: 'ada@example.com', data }], {}, log);
    expect(lines).toEqual([]);
  });
});

describe('captured', () => {
  test('each mail is a file only its owner reads, whole from the first moment, named in the log', async () => {
    const lines: object[] = [];
    const write = (fields: object): void => void lines.push(fields);
    const log = { debug: write, info: write, warn: write, error: write, child: () => log };
    await using subject = await startSubject({}, log);
    await subject.post('/signup', { email: someone(), password: PASSWORD });
    await subject.mails();
    const folder = join(subject.dataFolder, 'mail');
    const files = await readdir(folder);
    expect(files).toHaveLength(1);
    const [name = ''] = files;
    expect(name).toMatch(/^20260102T030405678Z-[a-z0-9]+-\d+\.eml$/);
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await readFile(join(folder, name), 'utf8')).endsWith('--\r\n')).toBe(true);
    expect(lines).toContainEqual({ file: join(folder, name) });
  });

  test('a mail sealed with another key is parked: nobody could read it any more', async () => {
    await using subject = await startSubject();
    await subject.post('/signup', { email: someone(), password: PASSWORD });
    await subject.rows.autocommit().run`
      update :schema.outbox set payload = payload || '{"sealed": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}'`;
    await deliver(subject);
    expect(await waiting(subject)).toEqual({ waiting: 0, parked: 1 });
  });
});
