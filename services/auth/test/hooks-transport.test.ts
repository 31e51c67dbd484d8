import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from '@croft/failure';
import { outgoingHttp } from '@croft/http/outgoing';
import { fixedClock } from '@croft/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { httpHook, MAX_ANSWER_BYTES } from '../src/outside/hooks/http-hook.ts';
import { readWebhookKeys } from '../src/rules/hooks/webhook-signature.ts';
import { type HookEmulator, hookEmulator } from './support/hook-emulator.ts';

// How an endpoint is spoken to: every way it can fail, and what is made of that.

const clock = fixedClock();
const TIMING = { totalMs: 5_000, attempts: 3, pauseMs: 50 };
const ID = '5c9d3a52-7f0e-4f60-9a0e-3c2a3a6f2b11';
let emulator: HookEmulator;
beforeEach(async () => {
  emulator = await hookEmulator(() => clock.now());
});
afterEach(() => emulator[Symbol.asyncDispose]());

function ask(change: { url?: string; secret?: string; timing?: typeof TIMING } = {}): Promise<unknown> {
  const { url = emulator.url, secret = emulator.secret, timing = TIMING } = change;
  const http = outgoingHttp({ userAgent: 'test', trusted: [url], keepAlive: true });
  return httpHook({ url, keys: readWebhookKeys(secret), http, clock, timing })({ metadata: {}, a: 'ü' }, ID);
}

/** Code, message and cause of a failure. */
async function failure(asked: Promise<unknown>): Promise<{ kind: string; code: string; message: string }> {
  const error = await asked.then(
    (answer) => new Error(`it answered ${JSON.stringify(answer)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Failure)) throw error;
  return { kind: error.kind, code: error.code, message: error.message };
}

const answering =
  (status: number, headers: Record<string, string> = {}, body = '') =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end(body);
const JSON_TYPE = { 'content-type': 'application/json' };

test('a question is signed, and what is answered comes back', async () => {
  emulator.answer = { a: ['ü'] };
  expect(await ask()).toEqual({ a: ['ü'] });
  expect(emulator.questions).toMatchObject([{ id: ID, body: { a: 'ü' } }]);
});

test('a receiver needs to know one of several keys', async () => {
  const other = `v1,whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  expect(await ask({ secret: `${other}|${emulator.secret}` })).toEqual({});
  expect(await ask({ secret: `${emulator.secret}|${other}` })).toEqual({});
  expect(await failure(ask({ secret: other }))).toMatchObject({
    message: 'Hook requires authorization token',
  });
  expect(emulator.questions).toHaveLength(2);
});

test.each([
  ['202 with JSON', 202, JSON_TYPE, '{"a":1}', { a: 1 }],
  ['JSON with a character set', 200, { 'content-type': 'Application/JSON; charset=utf-8' }, '{}', {}],
  ['204 with nothing', 204, {}, '', undefined],
  ['204 with a type', 204, JSON_TYPE, '', undefined],
  ['null', 200, JSON_TYPE, 'null', null],
])('%s is an answer', async (_name, status, headers, body, expected) => {
  emulator.answer = answering(status, headers, body);
  expect(await ask()).toEqual(expected);
});

const invalidType = { kind: 'invalid', code: 'hook_payload_invalid_content_type' };
const unexpected = { kind: 'unavailable', code: 'unexpected_failure' };
test.each([
  ['no content type', answering(200, {}, '{}'), invalidType],
  ['a page', answering(200, { 'content-type': 'text/html' }, '<html>'), invalidType],
  ['JSON lines', answering(200, { 'content-type': 'application/jsonl' }, '{}'), invalidType],
  ['a type that only begins so', answering(200, { 'content-type': 'application/json-x' }, '{}'), invalidType],
  [
    'no JSON',
    answering(200, JSON_TYPE, '{"a":'),
    { ...unexpected, message: 'Error unmarshaling JSON output.' },
  ],
  ['an empty body', answering(200, JSON_TYPE), { ...unexpected, message: 'Error unmarshaling JSON output.' }],
  ['400', answering(400, JSON_TYPE, '{}'), { ...unexpected, message: 'Invalid payload sent to hook' }],
  ['401', answering(401), { ...unexpected, message: 'Hook requires authorization token' }],
  ['404', answering(404), { ...unexpected, message: 'Unexpected status code returned from hook: 404' }],
  ['500', answering(500), { ...unexpected, message: 'Unexpected status code returned from hook: 500' }],
  ['201', answering(201, JSON_TYPE, '{}'), unexpected],
  ['429 without a time', answering(429), { message: 'Service currently unavailable due to hook' }],
  ['503 without a time', answering(503), { message: 'Service currently unavailable due to hook' }],
])('%s is none, and is not tried again', async (_name, answer, expected) => {
  emulator.answer = answer;
  expect(await failure(ask())).toMatchObject(expected);
  expect(emulator.questions).toHaveLength(1);
});

test('an answer may be as large as it may be, and not a byte larger', async () => {
  const text = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));
  emulator.answer = answering(200, JSON_TYPE, text(MAX_ANSWER_BYTES));
  expect(String(await ask())).toHaveLength(MAX_ANSWER_BYTES - 2);
  emulator.answer = answering(200, JSON_TYPE, text(MAX_ANSWER_BYTES + 1));
  expect(await failure(ask())).toEqual({
    kind: 'unprocessable',
    code: 'hook_payload_over_size_limit',
    message: 'Payload size exceeded size limit of 204800 bytes',
  });
});

test('attack: an answer without end is cut off while it comes', async () => {
  let written = 0;
  emulator.answer = (response) => {
    response.writeHead(200, JSON_TYPE);
    const more = (): void => {
      while (!response.destroyed && written < 50_000_000) {
        written += 65_536;
        if (!response.write(Buffer.alloc(65_536, ' '))) return void response.once('drain', more);
      }
    };
    more();
  };
  expect(await failure(ask())).toMatchObject({ code: 'hook_payload_over_size_limit' });
  expect(written).toBeLessThan(20_000_000);
});

test('attack: nothing it redirects to is asked, and it is not asked twice', async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of ['/elsewhere', emulator.url, 'http://169.254.169.254/latest/meta-data']) {
      emulator.questions.length = 0;
      emulator.answer = answering(status, { location });
      expect(await failure(ask())).toMatchObject({
        message: `Unexpected status code returned from hook: ${status}`,
      });
      expect(emulator.questions).toHaveLength(1);
    }
  }
});

test('one that hangs, or only trickles, is given up when its time is over', async () => {
  for (const answer of [
    () => undefined,
    (response: ServerResponse) => {
      response.writeHead(200, JSON_TYPE);
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    },
  ]) {
    emulator.answer = answer;
    const startedAt = performance.now();
    expect(await failure(ask({ timing: { ...TIMING, totalMs: 400 } }))).toEqual({
      kind: 'unprocessable',
      code: 'hook_timeout',
      message: 'Failed to reach hook within maximum time of 0.4 seconds',
    });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  }
  expect(emulator.questions).toHaveLength(2);
});

test('a connection that breaks is tried again, with the same id and a fresh signature', async () => {
  let broken = 0;
  emulator.answer = (response) => {
    clock.advance(10_000);
    if (++broken < 3) response.destroy();
    else answering(200, JSON_TYPE, '{"third":true}')(response);
  };
  expect(await ask()).toEqual({ third: true });
  expect(emulator.questions.map(({ id }) => id)).toEqual([ID, ID, ID]);
  const times = emulator.questions.map(({ headers }) => headers['webhook-timestamp']);
  expect(new Set(times).size).toBe(3);
});

test('three attempts, and then no more', async () => {
  emulator.answer = (response) => void response.destroy();
  expect(await failure(ask())).toEqual({
    kind: 'unprocessable',
    code: 'hook_timeout_after_retry',
    message: 'Failed to reach hook after maximum retries',
  });
  expect(emulator.questions).toHaveLength(3);
});

test('nobody listens', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await new Promise((resolve) => server.close(resolve));
  expect(await failure(ask({ url }))).toMatchObject({ code: 'hook_timeout_after_retry' });
});

test('429 and 503 with a time are tried again after it, three times in all', async () => {
  let count = 0;
  emulator.answer = (response) => {
    if (++count === 1) answering(429, { 'retry-after': '0' })(response);
    else if (count === 2) answering(503, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' })(response);
    else answering(200, JSON_TYPE, '{"third":true}')(response);
  };
  expect(await ask()).toEqual({ third: true });
  emulator.answer = answering(503, { 'retry-after': '0' });
  expect(await failure(ask())).toMatchObject({ message: 'Service currently unavailable due to hook' });
  expect(emulator.questions).toHaveLength(6);
});

test('a time that does not come in time is not waited for', async () => {
  emulator.answer = answering(503, { 'retry-after': '3600' });
  const startedAt = performance.now();
  expect(await failure(ask())).toMatchObject({ message: 'Service currently unavailable due to hook' });
  expect(performance.now() - startedAt).toBeLessThan(TIMING.totalMs);
  expect(emulator.questions).toHaveLength(1);
});

test('pauses count against the whole time', async () => {
  emulator.answer = (response) => void response.destroy();
  const startedAt = performance.now();
  const timing = { totalMs: 1_500, attempts: 3, pauseMs: 1_000 };
  expect(await failure(ask({ timing }))).toMatchObject({ code: 'hook_timeout_after_retry' });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(emulator.questions).toHaveLength(2);
});

test('a canary: the emulator does not take what is not signed', async () => {
  const post = (headers: Record<string, string>) =>
    fetch(emulator.url, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: '{}' });
  expect((await post({})).status).toBe(401);
  expect(
    (await post({ 'webhook-id': 'a', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' })).status,
  ).toBe(401);
  expect(emulator.questions).toHaveLength(0);
});
