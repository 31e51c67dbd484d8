import { expect, it } from 'vitest';
import { readWebhookKeys, webhookHeaders } from './webhook-signature.ts';

// The example of the specification's own libraries.
const SECRET = 'v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const MESSAGE = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
};
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

it('signs as the specification does', () => {
  expect(webhookHeaders(readWebhookKeys(SECRET), MESSAGE)).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': SIGNATURE,
  });
});

it('signs with every key, so that a receiver can change over to another', () => {
  const keys = readWebhookKeys(`v1,whsec_${Buffer.alloc(32, 7).toString('base64')} | ${SECRET}`);
  const signatures = String(webhookHeaders(keys, MESSAGE)['webhook-signature']).split(' ');
  expect(signatures).toHaveLength(2);
  expect(signatures[1]).toBe(SIGNATURE);
});

it.each([
  ['nothing', ''],
  ['no version', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['no prefix', 'v1,MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['no base64', 'v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaL_Sw'],
  ['too short', 'v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2I='],
  ['too long', `v1,whsec_${Buffer.alloc(65).toString('base64')}`],
  ['an empty second one', `${SECRET}|`],
  ['one of two wrong', `${SECRET}|secret`],
  ['a key pair', 'v1a,whpk_AAAA:whsk_AAAA'],
])('refuses %s, and repeats nothing of it', (_name, secret) => {
  expect(() => readWebhookKeys(secret)).toThrow(
    'must be v1,whsec_<base64 of 24 to 64 bytes>, several separated by |',
  );
});
