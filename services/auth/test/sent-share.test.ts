import { afterEach, describe, expect, test } from 'vitest';
import { withinHourlyLimit } from '../src/codes/hourly-limit.ts';
import { onBehalfOf } from '../src/limits/asking-client.ts';
import { PASSWORD, type Subject, startSubject } from './harness.ts';
import { serviceRole } from './support/administrators.ts';

// What one client may use of the mails and messages that all clients have in an hour (decision 0011).

let subject: Subject;
afterEach(() => subject[Symbol.asyncDispose]());

async function start(mails: string, environment: Record<string, string> = {}): Promise<void> {
  subject = await startSubject({
    AUTHSVC_RATE_LIMIT_ENABLED: 'true',
    AUTHSVC_RATE_LIMIT_OTP: '1000',
    AUTHSVC_RATE_LIMIT_EMAIL_SENT: mails,
    ...environment,
  });
}
let names = 0;
const someone = () => `person-${names++}@example.com`;
const from = (address: string) => ({ 'x-forwarded-for': address });
const ATTACKER = from('198.51.100.7');
const OTHER = from('198.51.100.8');
const recover = (email: string, client: Record<string, string>) =>
  subject.post('/recover', { email }, client);
const queued = async () => (await subject.rows.autocommit().rows`select id from :schema.outbox`).length;

describe.each(['memory', 'postgres'])('kept in %s', (store) => {
  const environment = { AUTHSVC_RATE_LIMIT_STORE: store };

  test('attack: one client uses up the mails of the hour by asking for addresses nobody has', async () => {
    await start('20', environment);
    const statuses: number[] = [];
    for (let n = 0; n < 30; n++) {
      statuses.push((await recover(someone(), ATTACKER)).status);
      await subject.context.limits.close?.();
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    const signedUp = await subject.post('/signup', { email: someone(), password: PASSWORD }, OTHER);
    expect(signedUp.status).toBe(200);
    expect(await queued()).toBe(1);
  });
});

test('attack: the share tells no address that somebody has from one nobody has', async () => {
  await start('20', { AUTHSVC_MAILER_AUTOCONFIRM: 'true', AUTHSVC_SMTP_MAX_FREQUENCY: '0' });
  const taken = someone();
  await subject.post('/signup', { email: taken, password: PASSWORD }, OTHER);
  const answersFor = async (address: () => string, client: Record<string, string>) => {
    const answers: unknown[] = [];
    for (let n = 0; n < 12; n++) {
      const { status, body, headers } = await recover(address(), client);
      answers.push([status, body, headers['retry-after']]);
    }
    return answers;
  };
  const known = await answersFor(() => taken, from('203.0.113.1'));
  expect(await answersFor(someone, from('203.0.113.2'))).toEqual(known);
  expect(known.at(-1)).toEqual([
    429,
    { code: 429, error_code: 'over_email_send_rate_limit', msg: 'email rate limit exceeded' },
    '360',
  ]);
});

test('the longest wait is told: of the client for its share, and of all for theirs', async () => {
  await start('20');
  for (let n = 0; n < 10; n++) await recover(someone(), ATTACKER);
  // One in 180 s for all, one in 360 s for each.
  expect((await recover(someone(), ATTACKER)).headers['retry-after']).toBe('360');
  subject.clock.advance(300_000);
  for (let n = 0; n < 10; n++) expect((await recover(someone(), OTHER)).status).toBe(200);
  expect((await recover(someone(), from('198.51.100.9'))).status).toBe(200);
  expect((await recover(someone(), from('198.51.100.9'))).headers['retry-after']).toBe('60');
  // The attacker's own share has a token in 60 s, and so has the service. Later the service's is the longer wait.
  subject.clock.advance(60_000);
  expect((await recover(someone(), from('198.51.100.9'))).status).toBe(200);
  subject.clock.advance(-30_000);
  expect((await recover(someone(), ATTACKER)).headers['retry-after']).toBe('180');
});

test('a refusal of the service gives the share back', async () => {
  await start('4', { AUTHSVC_RATE_LIMIT_SENT_SHARE: '1' });
  for (let n = 0; n < 4; n++) await recover(someone(), OTHER);
  for (let n = 0; n < 5; n++) expect((await recover(someone(), ATTACKER)).status).toBe(429);
  subject.clock.advance(4 * 900_000);
  for (let n = 0; n < 4; n++) expect((await recover(someone(), ATTACKER)).status).toBe(200);
});

test('few mails are shared with nobody, and administrators may use all', async () => {
  await start('3');
  for (let n = 0; n < 3; n++) expect((await recover(someone(), ATTACKER)).status).toBe(200);
  expect((await recover(someone(), ATTACKER)).status).toBe(429);
  await subject[Symbol.asyncDispose]();
  await start('20');
  for (let n = 0; n < 20; n++) {
    const invited = await subject.post(
      '/invite',
      { email: someone() },
      { ...serviceRole(subject), ...OTHER },
    );
    expect(invited.status).toBe(200);
  }
  expect(await queued()).toBe(20);
});

test('what mails two addresses counts two, or none', async () => {
  await start('4', { AUTHSVC_RATE_LIMIT_SENT_SHARE: '1' });
  const { context } = subject;
  let recorded = 0;
  const twice = (allowed: boolean) =>
    withinHourlyLimit(context, 'mail', async () => ({ allowed, n: recorded++ }), 2);
  await onBehalfOf(
    () => 'somebody',
    async () => {
      for (let n = 0; n < 5; n++) await twice(false);
      await twice(true);
      await withinHourlyLimit(context, 'mail', async () => ({ allowed: true }));
      const before = recorded;
      await expect(twice(true)).rejects.toMatchObject({
        code: 'over_email_send_rate_limit',
        retryAfterSeconds: 900,
      });
      expect(recorded).toBe(before);
      // The one that was left is left.
      await withinHourlyLimit(context, 'mail', async () => ({ allowed: true }));
    },
  );
});
