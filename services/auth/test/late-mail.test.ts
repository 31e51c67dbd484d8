import type { Log } from '@croft/runtime';
import { silentLog } from '@croft/runtime';
import { smtpPort, smtpSink } from '@croft/testing';
import { expect, it, onTestFinished } from 'vitest';
import { PASSWORD, readMail, type Subject, someone, startSubject } from './harness.ts';
import { serviceRole } from './support/administrators.ts';

const HOUR_MS = 3_600_000;

/** A log that keeps what was given up. */
function keepingErrors(): { log: Log; errors: object[] } {
  const errors: object[] = [];
  return { log: { ...silentLog, error: (fields: object) => void errors.push(fields) }, errors };
}

/** A service whose mail server is down, and the way to bring that up. */
async function startWithoutMail(log: Log, lifetime: string) {
  const [way, sink] = [await smtpPort(), await smtpSink()];
  onTestFinished(async () => {
    await way[Symbol.asyncDispose]();
    await sink[Symbol.asyncDispose]();
  });
  const subject = await startSubject(
    {
      AUTHSVC_SMTP_HOST: '127.0.0.1',
      AUTHSVC_SMTP_PORT: String(way.port),
      AUTHSVC_SMTP_ADMIN_EMAIL: 'no-reply@site.example',
      AUTHSVC_MAILER_OTP_EXP: lifetime,
    },
    log,
  );
  const mailServerIsBack = () => {
    way.leadTo(sink);
    return sink;
  };
  return { subject, mailServerIsBack };
}

const deliver = async (subject: Subject) => await (await subject.outbox()).drain();
const outbox = (subject: Subject) =>
  subject.rows.autocommit().rows`
    select payload ->> 'to' as "to", last_error as reason, parked_at is not null as parked from :schema.outbox order by id`;

it('a mail server that comes back after the code expired sends nothing, and what was not sent is told and counted', async () => {
  const { log, errors } = keepingErrors();
  const { subject, mailServerIsBack } = await startWithoutMail(log, '1h');
  await using _ = subject;
  const [late, fresh] = [someone('late'), someone('fresh')];
  expect((await subject.post('/signup', { email: late, password: PASSWORD })).status).toBe(200);
  await deliver(subject);
  expect(await outbox(subject)).toMatchObject([{ to: late, parked: false }]);
  expect(errors).toEqual([]);

  subject.clock.advance(HOUR_MS);
  expect((await subject.post('/signup', { email: fresh, password: PASSWORD })).status).toBe(200);
  const back = mailServerIsBack();
  await deliver(subject);
  const [mail] = await back.received(1);
  expect(mail?.to).toEqual([fresh]);
  expect(back.mails).toHaveLength(1);
  const reason = 'the code expired before the mail could be sent';
  expect(await outbox(subject)).toEqual([{ to: late, reason, parked: true }]);
  expect(errors).toEqual([expect.objectContaining({ topic: 'mail', reason })]);
  expect((await subject.post('/verify', { type: 'signup', token_hash: readMail(mail).token })).status).toBe(
    200,
  );
});

it('a mail server that comes back a second before that sends the mail, and its link works', async () => {
  const { subject, mailServerIsBack } = await startWithoutMail(silentLog, '1h');
  await using _ = subject;
  await subject.post('/signup', { email: someone(), password: PASSWORD });
  await deliver(subject);
  subject.clock.advance(HOUR_MS - 1000);
  const back = mailServerIsBack();
  await deliver(subject);
  const [mail] = await back.received(1);
  expect(await outbox(subject)).toEqual([]);
  expect((await subject.post('/verify', { type: 'signup', token_hash: readMail(mail).token })).status).toBe(
    200,
  );
});

it.each([
  [-1, 1],
  [0, 0],
])('a mail goes no later than its code lives: %i ms after that, %i mails', async (ms, sent) => {
  await using subject = await startSubject({ AUTHSVC_MAILER_OTP_EXP: '1h' });
  await subject.post('/signup', { email: someone(), password: PASSWORD });
  subject.clock.advance(HOUR_MS + ms);
  expect(await subject.mails()).toHaveLength(sent);
});

it('a mail server that comes back sends of several mails the one that counts, and nothing to who is gone', async () => {
  const { subject, mailServerIsBack } = await startWithoutMail(silentLog, '1h');
  await using _ = subject;
  const [asked, gone] = [someone('asked'), someone('gone')];
  for (const path of ['/signup', '/resend', '/resend']) {
    await subject.post(path, { type: 'signup', email: asked, password: PASSWORD });
    subject.clock.advance(61_000);
  }
  const { body } = await subject.post('/signup', { email: gone, password: PASSWORD });
  await subject.send('DELETE', `/admin/users/${body.id}`, '{}', serviceRole(subject));
  expect(await outbox(subject)).toHaveLength(4);
  await deliver(subject);
  expect(await outbox(subject)).toMatchObject([{ to: asked, parked: false }]);

  subject.clock.advance(61_000);
  const back = mailServerIsBack();
  await deliver(subject);
  expect(await outbox(subject)).toEqual([]);
  expect(back.mails.map(({ to }) => to)).toEqual([[asked]]);
  const { token } = readMail(back.mails[0]);
  expect((await subject.post('/verify', { type: 'signup', token_hash: token })).status).toBe(200);
});
