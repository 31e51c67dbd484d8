import { AuthClient } from '@supabase/auth-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp } from '../src/cleanup/clean-up.ts';
import { type Answer, bearer, claimsOf, type Subject, startSubject } from './harness.ts';
import { serviceRole } from './support/administrators.ts';
import {
  checksummed,
  ethereumWallet,
  type MessageParts,
  messageFor,
  solanaWallet,
  type Wallet,
} from './support/wallets.ts';

// Signing in with the key of a wallet, as its owners see it. What others try with their messages is in web3-attacks.test.ts.

const ON = {
  AUTHSVC_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true',
  AUTHSVC_EXTERNAL_WEB3_SOLANA_ENABLED: 'true',
};

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject(ON);
});
afterAll(() => subject[Symbol.asyncDispose]());

function signIn(wallet: Wallet, parts: Partial<MessageParts> = {}, on = subject): Promise<Answer> {
  const message = messageFor(wallet, { issuedAt: on.clock.now(), ...parts });
  return on.post('/token?grant_type=web3', { chain: wallet.chain, message, signature: wallet.sign(message) });
}

describe.each([
  ['ethereum', ethereumWallet, '1'],
  ['solana', solanaWallet, 'mainnet'],
] as const)('with a wallet of %s', (chain, walletOf, network) => {
  it('somebody new has an account, and the same one the next time', async () => {
    const wallet = walletOf();
    const first = await signIn(wallet);
    expect([first.status, first.text]).toEqual([200, first.text]);
    const custom_claims = {
      address: wallet.address,
      chain,
      network,
      domain: 'site.example',
      statement: 'Come in',
    };
    const data = {
      sub: `web3:${chain}:${wallet.address}`,
      custom_claims,
      email_verified: false,
      phone_verified: false,
    };
    expect(first.body.user).toMatchObject({
      email: '',
      phone: '',
      is_anonymous: false,
      app_metadata: { provider: 'web3', providers: ['web3'] },
      user_metadata: data,
      identities: [{ provider: 'web3', id: `web3:${chain}:${wallet.address}`, identity_data: data }],
    });
    expect(claimsOf(subject, first)).toMatchObject({ aal: 'aal1', amr: [{ method: 'web3' }] });
    expect((await subject.audit()).at(-1)).toBe('user_signedup');
    subject.clock.advance(1000);
    const again = await signIn(wallet, { statement: undefined });
    expect([again.status, again.body.user?.id]).toEqual([200, first.body.user?.id]);
    expect((await subject.audit()).at(-1)).toBe('login');
    expect((await subject.get('/user', bearer(again))).status).toBe(200);
    const refreshed = await subject.post('/token?grant_type=refresh_token', {
      refresh_token: again.body.refresh_token,
    });
    expect(refreshed.status).toBe(200);
  });

  it('takes two round trips, whether or not there is an account', async () => {
    const wallet = walletOf();
    for (const _ of ['new', 'known']) {
      expect(await subject.countRoundTrips(async () => expect((await signIn(wallet)).status).toBe(200))).toBe(
        2,
      );
    }
  });

  it('two messages of a new wallet at once make one account', async () => {
    const wallet = walletOf();
    const both = await Promise.all([signIn(wallet), signIn(wallet), signIn(wallet)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(both.map(({ body }) => body.user?.id)).size).toBe(1);
  });

  it('is off unless it is switched on, each chain by itself', async () => {
    const other = chain === 'solana' ? 'ETHEREUM' : 'SOLANA';
    await using off = await startSubject({ [`AUTHSVC_EXTERNAL_WEB3_${other}_ENABLED`]: 'true' });
    const before = await off.snapshot();
    expect((await signIn(walletOf(), {}, off)).body['error_code']).toBe('web3_provider_disabled');
    expect(await off.snapshot()).toBe(before);
  });
});

it('an address means the same however its letters are written', async () => {
  const wallet = ethereumWallet();
  const small = await signIn(wallet);
  const mixed = await signIn(wallet, { address: checksummed(wallet.address) });
  expect([mixed.status, mixed.body.user?.id]).toEqual([200, small.body.user?.id]);
});

it('messages may come from any page that people may be sent to', async () => {
  await using wide = await startSubject({
    ...ON,
    AUTHSVC_URI_ALLOW_LIST: 'https://*.app.example/**,http://localhost:3000/**',
  });
  const wallet = ethereumWallet();
  expect(
    (await signIn(wallet, { domain: 'a.app.example', uri: 'https://a.app.example/x' }, wide)).status,
  ).toBe(200);
  expect(
    (await signIn(wallet, { domain: 'localhost:3000', uri: 'http://localhost:3000/x' }, wide)).status,
  ).toBe(200);
  expect((await signIn(wallet, { scheme: 'https' }, wide)).status).toBe(200);
});

it('the client library signs in with it', async () => {
  const fetchHere: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(new Request(input).url);
    const headers = Object.fromEntries(new Headers(init?.headers));
    const answer = await subject.send(
      init?.method ?? 'GET',
      pathname + search,
      init?.body as string,
      headers,
    );
    return new Response(answer.text, {
      status: answer.status,
      headers: { 'content-type': 'application/json' },
    });
  };
  const client = () =>
    new AuthClient({
      url: 'https://auth.example',
      fetch: fetchHere,
      persistSession: false,
      autoRefreshToken: false,
    });
  const issuedAt = subject.clock.now();
  const ether = ethereumWallet();
  const request = async ({ method, params }: { method: string; params?: readonly unknown[] }) => {
    if (method === 'eth_requestAccounts') return [ether.address];
    return ether.sign(Buffer.from(String(params?.[0]).slice(2), 'hex').toString());
  };
  const byEther = await client().signInWithWeb3({
    chain: 'ethereum',
    wallet: { request } as never,
    statement: 'I accept the "terms" – alle',
    options: { url: 'https://site.example/in', signInWithEthereum: { chainId: 10, issuedAt } as never },
  });
  expect([byEther.error, byEther.data.user?.app_metadata]).toEqual([
    null,
    { provider: 'web3', providers: ['web3'] },
  ]);
  const sol = solanaWallet();
  const wallet = {
    publicKey: { toBase58: () => sol.address },
    signMessage: async (bytes: Uint8Array) =>
      Buffer.from(sol.sign(Buffer.from(bytes).toString()), 'base64url'),
  };
  const bySol = await client().signInWithWeb3({
    chain: 'solana',
    wallet: wallet as never,
    options: {
      url: 'https://site.example/in',
      signInWithSolana: {
        issuedAt: issuedAt.toISOString(),
        resources: ['https://site.example/terms'],
      } as never,
    },
  });
  expect([bySol.error, bySol.data.user?.identities?.[0]?.provider]).toEqual([null, 'web3']);
});

it('a banned owner does not come in, and a closed service makes no accounts', async () => {
  const wallet = solanaWallet();
  const { body } = await signIn(wallet);
  await subject.send('PUT', `/admin/users/${body.user?.id}`, '{"ban_duration":"1h"}', serviceRole(subject));
  const before = await subject.snapshot();
  expect((await signIn(wallet)).body['error_code']).toBe('user_banned');
  expect(await subject.snapshot()).toBe(before);

  await using closed = await startSubject({ ...ON, AUTHSVC_DISABLE_SIGNUP: 'true' });
  const empty = await closed.snapshot();
  expect((await signIn(wallet, {}, closed)).body['error_code']).toBe('signup_disabled');
  expect(await closed.snapshot()).toBe(empty);
});

it('wallets are limited apart from other sign-ins', async () => {
  await using limited = await startSubject({
    ...ON,
    AUTHSVC_RATE_LIMIT_ENABLED: 'true',
    AUTHSVC_RATE_LIMIT_WEB3: '2',
  });
  const wallet = solanaWallet();
  const statuses: number[] = [];
  for (let count = 0; count < 3; count++) statuses.push((await signIn(wallet, {}, limited)).status);
  expect(statuses).toEqual([200, 200, 429]);
  expect((await limited.post('/token?grant_type=refresh_token', {})).status).toBe(400);
});

it('what was used is forgotten when it is too old to be used, and not before', async () => {
  await using own = await startSubject(ON);
  const count = async () =>
    (await own.rows.autocommit().row<{ count: number }>`select count(*) as count from :schema.web3_messages`)
      ?.count;
  await signIn(ethereumWallet(), {}, own);
  const sweep = () => cleanUp(own.context.database, own.context.settings, () => {});
  own.clock.advance(70 * 60_000);
  await sweep();
  expect(await count()).toBe(1);
  own.clock.advance(2 * 60_000);
  await sweep();
  expect(await count()).toBe(0);
});
