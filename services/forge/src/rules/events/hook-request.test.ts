import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { isWorthRetrying, writeHookRequest } from './hook-request.ts';

const hook = {
  uuid: '6f1d2c1e-0000-4000-8000-000000000000',
  event: 'issues',
  eventType: 'issue_label',
  contentType: 'json',
  payload: '{"a":"ü & b"}',
  secret: 'geheim',
  target: 'repository',
} as const;

it('signs the payload, whichever way it is sent', () => {
  for (const contentType of ['json', 'form'] as const) {
    const { headers } = writeHookRequest({ ...hook, contentType });
    const mac = (algorithm: string) => createHmac(algorithm, 'geheim').update(hook.payload).digest('hex');
    expect(headers).toMatchObject({
      'X-Gitea-Signature': mac('sha256'),
      'X-Gogs-Signature': mac('sha256'),
      'X-Hub-Signature': `sha1=${mac('sha1')}`,
      'X-Hub-Signature-256': `sha256=${mac('sha256')}`,
    });
  }
});

it('names the event in three families of headers', () => {
  const { headers } = writeHookRequest(hook);
  for (const family of ['Gitea', 'Gogs', 'GitHub']) {
    expect(headers).toMatchObject({
      [`X-${family}-Delivery`]: hook.uuid,
      [`X-${family}-Event`]: 'issues',
      [`X-${family}-Event-Type`]: 'issue_label',
    });
  }
  expect(headers['X-Gitea-Hook-Installation-Target-Type']).toBe('repository');
});

it('has empty signatures without a secret', () => {
  expect(writeHookRequest({ ...hook, secret: '' }).headers).toMatchObject({
    'X-Gitea-Signature': '',
    'X-Hub-Signature': 'sha1=',
    'X-Hub-Signature-256': 'sha256=',
  });
});

it('puts the payload into a form, byte by byte as browsers do', () => {
  const every = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code)).join('');
  for (const payload of [every, '\u{1f600} 語\u2028', ''])
    expect(writeHookRequest({ ...hook, contentType: 'form', payload }).body.text).toBe(
      new URLSearchParams({ payload }).toString(),
    );
  const { body } = writeHookRequest({ ...hook, contentType: 'form' });
  expect(body.type).toBe('application/x-www-form-urlencoded');
  expect(new URLSearchParams(body.text).get('payload')).toBe(hook.payload);
});

it.each([
  [200, false],
  [301, false],
  [404, false],
  [408, true],
  [429, true],
  [500, true],
  [503, true],
])('an answer of %i is worth another try: %s', (status, again) => {
  expect(isWorthRetrying(status)).toBe(again);
});
