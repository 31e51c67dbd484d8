import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { outgoingHttp } from '@croft/http/outgoing';
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { countOutbox, enqueue, openDatabase, startOutbox } from '@croft/sql';
import { fixedClock, temporaryFolder, testDatabase } from '@croft/testing';
import { describe, expect, it } from 'vitest';
import { atRest } from '../src/at-rest.ts';
import { type SmsDelivery, smsEffect, smsPayload } from '../src/effects/sms.ts';
import { migrations } from '../src/open-context.ts';
import { type OutgoingSms, SmsRefused } from '../src/outside/sms/outgoing.ts';
import { openSms, remoteVerification } from '../src/outside/sms/sms.ts';
import { authSettings } from '../src/settings/index.ts';
import { startSubject } from './harness.ts';
import type { FormAnswer } from './support/form-server.ts';
import { type SmsEmulator, type SmsProviderName, smsEmulator, TWILIO_CODE } from './support/sms-emulators.ts';

const SMS: OutgoingSms = {
  id: 'f0e1',
  phone: '14155552671',
  text: 'Your code is 123456',
  code: '123456',
  channel: 'sms',
};
const secrets = atRest(new Secret('an at-rest key of the tests'));
const never = new AbortController().signal;

function settingsWith(environment: Record<string, string>) {
  return readSettings(authSettings, {
    AUTHSVC_SITE_URL: 'https://site.example',
    AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
    AUTHSVC_JWT_SECRET: 'a-secret-of-the-tests-that-nobody-else-has',
    ...environment,
  });
}

function openWith(environment: Record<string, string>, trusted: string, folder = '/nowhere') {
  const http = outgoingHttp({ userAgent: 'Croft/test', trusted: [trusted] });
  const settings = settingsWith(environment);
  const sender = openSms(settings, http, folder, silentLog, fixedClock());
  return { sender, verify: remoteVerification(settings, http) };
}

const open = (emulator: SmsEmulator, more: Record<string, string> = {}) =>
  openWith({ ...emulator.environment, ...more }, emulator.url);

/** How a refusal is judged: tried again, or not. */
async function outcome(attempt: Promise<void>): Promise<string> {
  try {
    await attempt;
    return 'sent';
  } catch (error) {
    return `${error instanceof SmsRefused ? 'refused' : 'later'}: ${(error as Error).message}`;
  }
}

const vonageError = (status: string, text: string): FormAnswer => ({
  status: 200,
  body: { 'message-count': '1', messages: [{ status, 'error-text': text }] },
});
const twilioError = (status: number, code: number): FormAnswer => ({
  status,
  body: { code, message: 'No', more_info: 'https://t.example', status },
});
const birdError = (status: number): FormAnswer => ({
  status,
  body: { errors: [{ code: 9, description: 'no (correct) recipients found', parameter: 'recipients' }] },
});
const textlocalError = (code: number): FormAnswer => ({
  status: 200,
  body: { status: 'failure', errors: [{ code, message: 'No' }] },
});

interface Case {
  name: SmsProviderName;
  /** What the provider is told of `SMS`. */
  taken: object;
  /** A wrong value of the credentials. */
  wrong: Record<string, string>;
  /** A variable that is missing. */
  missing: string;
  /** Answers that say no for good, and what is told of them. */
  final: [FormAnswer, RegExp][];
  /** Answers after which another attempt may help. */
  passing: [FormAnswer, RegExp][];
}

const cases: Case[] = [
  {
    name: 'twilio',
    taken: { to: '+14155552671', from: 'MG0123', text: SMS.text, rest: { Channel: 'sms' } },
    wrong: { AUTHSVC_SMS_TWILIO_AUTH_TOKEN: 'x' },
    missing: 'AUTHSVC_SMS_TWILIO_AUTH_TOKEN',
    final: [[twilioError(400, 21211), /No \(21211\) More information: https:\/\/t\.example$/]],
    passing: [
      [twilioError(401, 20003), /20003/],
      [twilioError(429, 20429), /20429/],
      [{ status: 201, body: { sid: 'SM1', status: 'failed' } }, /the message is failed/],
      [{ status: 201, body: { sid: 'SM1', status: 'undelivered' } }, /the message is undelivered/],
      [{ status: 200, body: 'hello' }, /cannot be read/],
    ],
  },
  {
    name: 'twilio_verify',
    taken: { to: '+14155552671', from: '', text: '', rest: { Channel: 'sms' } },
    wrong: { AUTHSVC_SMS_TWILIO_VERIFY_AUTH_TOKEN: 'x' },
    missing: 'AUTHSVC_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID',
    final: [[twilioError(400, 60200), /60200/]],
    passing: [[twilioError(429, 60203), /60203/]],
  },
  {
    name: 'messagebird',
    taken: {
      to: SMS.phone,
      from: 'Croft',
      text: SMS.text,
      rest: { type: 'sms', datacoding: 'unicode' },
    },
    wrong: { AUTHSVC_SMS_MESSAGEBIRD_ACCESS_KEY: 'x' },
    missing: 'AUTHSVC_SMS_MESSAGEBIRD_ORIGINATOR',
    final: [
      [birdError(400), /no \(correct\) recipients found \(9\)/],
      [birdError(422), /no \(correct\) recipients found \(9\)/],
    ],
    passing: [
      [birdError(401), /\(9\)/],
      [birdError(403), /\(9\)/],
      [{ status: 201, body: { id: 'a', recipients: { totalSentCount: 0 } } }, /to no recipient/],
    ],
  },
  {
    name: 'textlocal',
    taken: { to: SMS.phone, from: 'CROFTX', text: SMS.text, rest: { apikey: 'textlocal-key' } },
    wrong: { AUTHSVC_SMS_TEXTLOCAL_API_KEY: 'x' },
    missing: 'AUTHSVC_SMS_TEXTLOCAL_API_KEY',
    final: [
      [textlocalError(51), /No \(51\)$/],
      [textlocalError(80), /No \(80\): SMS_TEMPLATE must match a registered template$/],
    ],
    passing: [
      [textlocalError(7), /No \(7\)/],
      [{ status: 200, body: { status: 'failure' } }, /status failure/],
    ],
  },
  {
    name: 'vonage',
    taken: {
      to: SMS.phone,
      from: 'Croft',
      text: SMS.text,
      rest: { api_key: 'vonage-key', api_secret: 'vonage-secret' },
    },
    wrong: { AUTHSVC_SMS_VONAGE_API_SECRET: 'x' },
    missing: 'AUTHSVC_SMS_VONAGE_API_KEY',
    final: [[vonageError('7', 'Number barred'), /Number barred \(7\)/]],
    passing: [
      [vonageError('1', 'Throttled'), /Throttled \(1\)/],
      [{ status: 200, body: { messages: [{ status: '0' }, { status: '5' }] } }, /no reason was given \(5\)/],
      [{ status: 200, body: { messages: [] } }, /status 200/],
    ],
  },
];

describe.each(cases)('$name', ({ name, taken, wrong, missing, final, passing }) => {
  it('is told what its API wants', async () => {
    await using emulator = await smsEmulator(name);
    await open(emulator).sender.send(SMS, never);
    expect(emulator.taken).toEqual([taken]);
    expect(emulator.requests).toHaveLength(1);
  });

  it('keeps the message for later when it refuses the login', async () => {
    await using emulator = await smsEmulator(name);
    expect(await outcome(open(emulator, wrong).sender.send(SMS, never))).toMatch(
      /^later: .*(Auth|access_key|login|Cred)/,
    );
    expect(emulator.taken).toHaveLength(0);
  });

  it('is not asked without credentials', async () => {
    await using emulator = await smsEmulator(name);
    const { [missing]: _left, ...environment } = emulator.environment;
    const { sender } = openWith(environment, emulator.url);
    expect(await outcome(sender.send(SMS, never))).toBe(`later: ${missing} is missing`);
    expect(emulator.requests).toHaveLength(0);
  });

  it('refuses a wrong number for good', async () => {
    await using emulator = await smsEmulator(name);
    expect(await outcome(open(emulator).sender.send({ ...SMS, phone: '0' }, never))).toMatch(/^refused: /);
    expect(emulator.taken).toHaveLength(0);
  });

  it('has its other answers understood', async () => {
    await using emulator = await smsEmulator(name);
    const { sender } = open(emulator);
    for (const [kind, answers] of [
      ['refused', final],
      ['later', passing],
    ] as const) {
      for (const [answer, text] of answers) {
        emulator.answerNext(answer);
        const told = await outcome(sender.send(SMS, never));
        expect(told).toMatch(new RegExp(`^${kind}: .*${text.source}`));
      }
    }
    for (const answer of [
      { status: 500, body: 'Internal Server Error' },
      { status: 503, body: {} },
      { status: 302, body: {} },
      'hang-up',
    ] as const) {
      emulator.answerNext(answer);
      expect(await outcome(sender.send(SMS, never))).toMatch(/^later: /);
    }
    expect(emulator.taken).toHaveLength(0);
  });

  it('may take no longer than the delivery', async () => {
    await using emulator = await smsEmulator(name);
    emulator.answerNext('silence');
    await expect(open(emulator).sender.send(SMS, AbortSignal.timeout(80))).rejects.toThrow(/timeout/);
  });

  it('may take no longer than the operator lets it', async () => {
    await using emulator = await smsEmulator(name);
    emulator.answerNext('silence');
    const { sender } = open(emulator, { AUTHSVC_INTERNAL_HTTP_TIMEOUT: '80ms' });
    expect(await outcome(sender.send(SMS, never))).toMatch(/^later: .* did not answer in time$/);
  });

  it('never has its secrets in an error', async () => {
    await using emulator = await smsEmulator(name);
    emulator.answerNext('hang-up', { status: 500, body: 'x' });
    const { sender } = open(emulator);
    for (const told of [await outcome(sender.send(SMS, never)), await outcome(sender.send(SMS, never))]) {
      expect(told).not.toMatch(/123456|token|-key|secret|14155552671/);
    }
  });
});

describe('WhatsApp', () => {
  const whatsapp: OutgoingSms = { ...SMS, channel: 'whatsapp' };

  it.each([
    ['a messaging service as it is', 'MG0123', 'MG0123'],
    ['a number by its WhatsApp address', '+15005550006', 'whatsapp:+15005550006'],
  ])('comes from %s', async (_name, sender, from) => {
    await using emulator = await smsEmulator('twilio');
    const more = { AUTHSVC_SMS_TWILIO_MESSAGE_SERVICE_SID: sender };
    await open(emulator, more).sender.send(whatsapp, never);
    expect(emulator.taken).toEqual([
      { to: 'whatsapp:+14155552671', from, text: SMS.text, rest: { Channel: 'whatsapp' } },
    ]);
  });

  it('uses the approved template, and only there', async () => {
    await using emulator = await smsEmulator('twilio');
    const { sender } = open(emulator, { AUTHSVC_SMS_TWILIO_CONTENT_SID: 'HX0123' });
    await sender.send(whatsapp, never);
    await sender.send(SMS, never);
    expect(emulator.taken.map(({ text, rest }) => ({ text, ...rest }))).toEqual([
      { text: '', Channel: 'whatsapp', ContentSid: 'HX0123', ContentVariables: '{"1": "123456"}' },
      { text: SMS.text, Channel: 'sms' },
    ]);
  });

  it('is a channel of Twilio Verify', async () => {
    await using emulator = await smsEmulator('twilio_verify');
    await open(emulator).sender.send(whatsapp, never);
    expect(emulator.taken).toMatchObject([{ to: '+14155552671', rest: { Channel: 'whatsapp' } }]);
  });
});

describe('texts', () => {
  it('with other letters than ASCII are marked for Vonage', async () => {
    await using emulator = await smsEmulator('vonage');
    await open(emulator).sender.send({ ...SMS, text: 'Dein Schlüssel: 1' }, never);
    expect(emulator.taken).toMatchObject([{ text: 'Dein Schlüssel: 1', rest: { type: 'unicode' } }]);
  });

  it.each(['no code', '{{ .Token }}', '{{ if .Code }}x{{ end }}'])(
    'that cannot be written stop the start: %s',
    (text) => {
      expect(() => openWith({ AUTHSVC_SMS_TEMPLATE: text }, 'http://127.0.0.1:9')).toThrow(
        /AUTHSVC_SMS_TEMPLATE cannot be used/,
      );
    },
  );
});

describe('codes of Twilio Verify', () => {
  it('are checked there', async () => {
    await using emulator = await smsEmulator('twilio_verify');
    const { sender, verify } = open(emulator);
    if (verify === undefined) throw new Error('Twilio Verify checks codes itself');
    expect(await verify(SMS.phone, TWILIO_CODE)).toBe(false);
    await sender.send(SMS, never);
    expect(await verify(SMS.phone, '000000')).toBe(false);
    expect(await verify(SMS.phone, TWILIO_CODE)).toBe(true);
    expect(await verify(SMS.phone, TWILIO_CODE)).toBe(false);
    expect(emulator.requests.at(-1)?.path).toBe('/v2/Services/VA4567/VerificationCheck');
  });

  it.each<[string, FormAnswer]>([
    ['pending', { status: 200, body: { status: 'pending', valid: false } }],
    ['approved, but not valid', { status: 200, body: { status: 'approved', valid: false } }],
    ['valid, but not approved', { status: 200, body: { status: 'pending', valid: true } }],
    ['tried too often', twilioError(429, 60202)],
    ['gone', twilioError(404, 20404)],
    ['malformed', twilioError(400, 60200)],
    ['nothing to read', { status: 200, body: 'ok' }],
  ])('are wrong when they are %s', async (_name, answer) => {
    await using emulator = await smsEmulator('twilio_verify');
    const { verify } = open(emulator);
    emulator.answerNext(answer);
    expect(await verify?.(SMS.phone, TWILIO_CODE)).toBe(false);
  });

  it('are neither right nor wrong while Twilio is down', async () => {
    await using emulator = await smsEmulator('twilio_verify');
    const { verify } = open(emulator);
    emulator.answerNext('hang-up', { status: 503, body: 'x' });
    await expect(verify?.(SMS.phone, TWILIO_CODE)).rejects.toThrow(/cannot be reached/);
    await expect(verify?.(SMS.phone, TWILIO_CODE)).rejects.toThrow(/status 503/);
  });

  it('are our own with every other provider', async () => {
    await using emulator = await smsEmulator('twilio');
    expect(open(emulator).verify).toBeUndefined();
  });
});

describe('without a provider', () => {
  it('messages are files only the owner can read', async () => {
    await using folder = await temporaryFolder();
    const { sender } = openWith({}, 'http://127.0.0.1:9', folder.path);
    await sender.send(SMS, never);
    const [name = '', ...others] = await readdir(join(folder.path, 'sms'));
    expect(name).toBe('20260102T030405678Z-000001-f0e1.txt');
    expect(others).toHaveLength(0);
    const file = join(folder.path, 'sms', name);
    expect(await readFile(file, 'utf8')).toBe('Your code is 123456\n\nTo: +14155552671\nChannel: sms\n');
    expect((await stat(file)).mode & 0o077).toBe(0);
  });
});

describe('the outbox', () => {
  async function outboxWith(
    environment: Record<string, string>,
    trusted: string,
    template = 'Code: {{ .Code }}',
  ) {
    const database = await testDatabase({ schema: 'auth', migrations });
    const clock = fixedClock();
    const pool = openDatabase({ url: database.url, schema: 'auth', log: silentLog, clock });
    const delivery: SmsDelivery = {
      atRest: secrets,
      sms: openWith(environment, trusted).sender,
      template,
      factorTemplate: template,
      clock,
      database: pool,
      makesCodes: false,
    };
    // Of a factor: whose code it is stands in the row.
    const userId = randomUUID();
    await pool.autocommit().run`
      insert into :schema.users (id, aud, role, created_at, updated_at)
      values (${userId}::uuid, 'authenticated', 'authenticated', ${clock.now()}, ${clock.now()})`;
    const outbox = startOutbox({ database: pool, handlers: { sms: smsEffect(delivery) }, log: silentLog });
    const expiresAt = new Date(clock.now().getTime() + 60_000);
    return {
      clock,
      pool,
      async order(code = '654321') {
        const payload = smsPayload(secrets, {
          phone: SMS.phone,
          channel: 'sms',
          code,
          expiresAt,
          userId,
        });
        await enqueue(pool.autocommit(), 'sms', payload);
        await outbox.drain();
      },
      async later(milliseconds: number) {
        clock.advance(milliseconds);
        await outbox.drain();
      },
      counts: () => countOutbox(pool.autocommit()),
      lastError: async () =>
        (await pool.autocommit().row<{ e: string }>`select last_error as e from :schema.outbox`)?.e,
      async [Symbol.asyncDispose]() {
        await outbox.close();
        await pool.close();
        await database[Symbol.asyncDispose]();
      },
    };
  }

  it('delivers once, and holds no code in clear', async () => {
    await using emulator = await smsEmulator('vonage');
    emulator.answerNext({ status: 503, body: '' });
    await using outbox = await outboxWith(emulator.environment, emulator.url);
    await outbox.order();
    const row = await outbox.pool.autocommit().row<{
      text: string;
    }>`select payload::text as text from :schema.outbox`;
    expect(row?.text).toContain(SMS.phone);
    expect(row?.text).not.toContain('654321');
    await outbox.later(6_000);
    expect(emulator.taken.map(({ text }) => text)).toEqual(['Code: 654321']);
    expect(await outbox.counts()).toEqual({ waiting: 0, parked: 0 });
  });

  it('tries again when the provider is away, as long as the code is worth something', async () => {
    await using emulator = await smsEmulator('messagebird');
    emulator.answerNext('hang-up', { status: 500, body: '' }, 'hang-up');
    await using outbox = await outboxWith(emulator.environment, emulator.url);
    await outbox.order();
    expect(await outbox.counts()).toEqual({ waiting: 1, parked: 0 });
    for (let tries = 0; tries < 3; tries++) await outbox.later(6_000 * 2 ** tries);
    expect(emulator.taken).toHaveLength(1);
    expect(emulator.requests).toHaveLength(4);
    expect(await outbox.counts()).toEqual({ waiting: 0, parked: 0 });
  });

  it('parks what nobody can use any more', async () => {
    await using emulator = await smsEmulator('messagebird');
    emulator.answerNext('hang-up');
    await using outbox = await outboxWith(emulator.environment, emulator.url);
    await outbox.order();
    await outbox.later(60_000);
    expect(await outbox.counts()).toEqual({ waiting: 0, parked: 1 });
    expect(await outbox.lastError()).toBe('the code expired before the message could be sent');
    expect(emulator.requests).toHaveLength(1);
  });

  it('of several codes for a number brings the last one alone, also where it comes before the others', async () => {
    await using emulator = await smsEmulator('vonage');
    await using subject = await startSubject({
      ...emulator.environment,
      AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
      AUTHSVC_SMS_MAX_FREQUENCY: '1s',
      AUTHSVC_SMS_OTP_EXP: '1h',
    });
    const ask = async () => {
      expect((await subject.post('/otp', { phone: SMS.phone })).status).toBe(200);
      await (await subject.outbox()).drain();
      subject.clock.advance(2_000);
    };
    emulator.answerNext({ status: 503, body: '' }, { status: 503, body: '' });
    await ask();
    await ask();
    await ask();
    subject.clock.advance(60_000);
    await (await subject.outbox()).drain();
    const texts = emulator.taken.map(({ text }) => String(text));
    expect(texts).toHaveLength(1);
    const token = /\d{6}/.exec(texts[0] ?? '')?.[0];
    expect((await subject.post('/verify', { type: 'sms', phone: SMS.phone, token })).status).toBe(200);
    expect(await countOutbox(subject.rows.autocommit())).toEqual({ waiting: 0, parked: 0 });
  });

  it('asks a provider that makes the codes for each message', async () => {
    await using emulator = await smsEmulator('twilio_verify');
    await using subject = await startSubject({
      ...emulator.environment,
      AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
    });
    expect((await subject.post('/otp', { phone: SMS.phone })).status).toBe(200);
    await (await subject.outbox()).drain();
    expect(emulator.taken).toHaveLength(1);
  });

  it('parks at once what the provider refuses for good', async () => {
    await using emulator = await smsEmulator('twilio');
    emulator.answerNext(twilioError(400, 21610));
    await using outbox = await outboxWith(emulator.environment, emulator.url);
    await outbox.order();
    await outbox.later(6_000);
    expect(await outbox.counts()).toEqual({ waiting: 0, parked: 1 });
    expect(emulator.requests).toHaveLength(1);
  });

  it('parks what was sealed with another key', async () => {
    await using emulator = await smsEmulator('twilio');
    await using outbox = await outboxWith(emulator.environment, emulator.url);
    const other = atRest(new Secret('another at-rest key'));
    const payload = smsPayload(other, {
      phone: SMS.phone,
      channel: 'sms',
      code: '1',
      expiresAt: new Date(Date.now() + 1e12),
    });
    await enqueue(outbox.pool.autocommit(), 'sms', payload);
    await outbox.later(1);
    expect(await outbox.counts()).toEqual({ waiting: 0, parked: 1 });
    expect(emulator.requests).toHaveLength(0);
  });
});
