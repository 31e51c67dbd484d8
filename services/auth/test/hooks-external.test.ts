import { fixedClock } from '@croft/testing';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { someone } from './harness.ts';
import { signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import { hookEmulator } from './support/hook-emulator.ts';
import { ethereumWallet, messageFor } from './support/wallets.ts';

// Hooks about people who come from elsewhere.

const emulator = await hookEmulator(() => fixedClock().now());
const settings = {
  ...emulator.settings('BEFORE_USER_CREATED'),
  ...emulator.settings('AFTER_USER_CREATED'),
  AUTHSVC_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true',
};
const { subject, become, emulator: provider } = await externalSubject(['github'], settings);
afterAll(() => emulator[Symbol.asyncDispose]());
beforeEach(() => {
  emulator.questions.length = 0;
  emulator.answer = {};
});

/** Names of what was asked, in its order. */
async function asked(): Promise<string[]> {
  await subject.mails();
  return emulator.questions.map(({ body }) => body.metadata.name);
}

test('somebody new is asked about before and told of after; whoever comes again is neither', async () => {
  become(someone());
  const first = await signInWith(subject, provider, 'github');
  expect(first.fragment.get('access_token')).not.toBeNull();
  expect(await asked()).toEqual(['before-user-created', 'after-user-created']);
  expect(emulator.questions[0]?.body).toMatchObject({
    user: { app_metadata: { provider: 'github', providers: ['github'] }, identities: [] },
  });
  const again = await signInWith(subject, provider, 'github');
  expect(again.fragment.get('access_token')).not.toBeNull();
  expect(await asked()).toHaveLength(2);
});

test.each([[true], [false]])(
  'somebody who is refused gets no account: an address that is verified %s',
  async (verified) => {
    become(someone(), verified);
    const before = await subject.snapshot();
    emulator.answer = { error: { http_code: 403, message: 'Members only' } };
    const refused = await signInWith(subject, provider, 'github');
    expect(Object.fromEntries(refused.fragment)).toMatchObject({ error_description: 'Members only' });
    expect(await asked()).toEqual(['before-user-created']);
    expect(await subject.snapshot()).toBe(before);
  },
);

test('a wallet nobody has seen is asked about, and refused', async () => {
  const wallet = ethereumWallet();
  const signIn = async (minute: number) => {
    const issuedAt = new Date(subject.clock.now().getTime() - minute * 1000);
    const message = messageFor(wallet, { issuedAt });
    return await subject.post('/token?grant_type=web3', {
      chain: wallet.chain,
      message,
      signature: wallet.sign(message),
    });
  };
  emulator.answer = { error: { http_code: 403, message: 'No wallets' } };
  const refused = await signIn(1);
  expect(refused.text).toContain('No wallets');
  expect(
    await subject.rows.autocommit().rows`select id from :schema.identities where provider = 'web3'`,
  ).toHaveLength(0);
  emulator.answer = {};
  expect((await signIn(2)).status).toBe(200);
  expect(await asked()).toEqual(['before-user-created', 'before-user-created', 'after-user-created']);
});
