import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { smtpSink } from '@croft/testing';
import { describe, expect, test } from 'vitest';
import { PASSWORD, readMail, type Subject, someone, startSubject } from './harness.ts';

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

  test('logs in when it is told to', async () => {
    await using sink = await smtpSink({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === 'mailer' && password === 'its password'
          ? done(null, { user: username })
          : done(new Error('not you')),
    });
    const login = { AUTHSVC_SMTP_USER: 'mailer', AUTHSVC_SMTP_PASS: 'its password' };
    await using subject = await startSubject(smtpSettings(sink.port, login));
    await subject.post('/signup', { email: someone(), password: PASSWORD });
    await deliver(subject);
    expect((await sink.received(1))[0]?.user).toBe('mailer');
  });

  test('a mail server that is down delays the mail and does not fail the sign-up', async () => {
    const sink = await smtpSink();
    const { port } = sink;
    await sink[Symbol.asyncDispose]();
    await using subject = await startSubject(smtpSettings(port));
    const answer = await subject.post('/signup', { email: someone(), password: PASSWORD });
    expect(answer.status).toBe(200);
    await deliver(subject);
    expect(await waiting(subject)).toEqual({ waiting: 1, parked: 0 });

    await using back = await smtpSink({ port });
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
