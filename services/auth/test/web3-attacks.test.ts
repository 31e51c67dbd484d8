import { secp256k1 } from '@noble/curves/secp256k1.js';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Subject, startSubject } from './harness.ts';
import {
  base58,
  checksummed,
  ethereumWallet,
  type MessageParts,
  messageFor,
  solanaWallet,
  type Wallet,
} from './support/wallets.ts';

// Messages of wallets that were signed for something else, or by nobody.

let subject: Subject;
let before: string;
const ether = ethereumWallet();
const sol = solanaWallet();
beforeAll(async () => {
  subject = await startSubject({
    AUTHSVC_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true',
    AUTHSVC_EXTERNAL_WEB3_SOLANA_ENABLED: 'true',
    AUTHSVC_URI_ALLOW_LIST: 'https://*.app.example/**,myapp://**',
  });
  // Both have accounts, which is what somebody would want to get into.
  for (const wallet of [ether, sol]) await attempt(wallet);
});
afterAll(() => subject[Symbol.asyncDispose]());
beforeEach(async () => {
  before = await subject.snapshot();
});

const text = (wallet: Wallet, parts: Partial<MessageParts> = {}) =>
  messageFor(wallet, { issuedAt: subject.clock.now(), ...parts });
const post = (chain: string, message: string, signature: string) =>
  subject.post('/token?grant_type=web3', { chain, message, signature });
const attempt = (wallet: Wallet, parts: Partial<MessageParts> = {}) => {
  const message = text(wallet, parts);
  return post(wallet.chain, message, wallet.sign(message));
};
const minutes = (count: number) => new Date(subject.clock.now().getTime() + count * 60_000);

async function expectRefused(answer: Awaited<ReturnType<typeof attempt>>, why: string): Promise<void> {
  expect([answer.status, answer.body]).toEqual([
    400,
    {
      code: 400,
      error_code: 'invalid_credentials',
      msg: why,
      error: 'invalid_grant',
      error_description: why,
    },
  ]);
  expect(await subject.snapshot()).toBe(before);
}

it.each([
  [
    'another domain',
    { domain: 'evil.example', uri: 'https://evil.example/' },
    'URI is not allowed on this server',
  ],
  ['our domain, their page', { uri: 'https://evil.example/' }, 'the domain is not that of the URI'],
  ['their domain, our page', { domain: 'evil.example' }, 'the domain is not that of the URI'],
  ['a user before the host', { uri: 'https://evil@site.example/' }, 'URI must not have a user'],
  ['another port', { domain: 'site.example:444' }, 'the domain is not that of the URI'],
  [
    'another scheme before the domain',
    { scheme: 'http' },
    'the scheme before the domain is not that of the URI',
  ],
  [
    'a page without encryption',
    { uri: 'http://site.example/in' },
    'URI must be https, or http on this machine',
  ],
  ['an application', { domain: 'in', uri: 'myapp://in' }, 'URI must be https, or http on this machine'],
  [
    'a host that looks alike',
    { domain: 'sіte.example', uri: 'https://sіte.example/' },
    'the domain is not that of the URI',
  ],
  [
    'a dot that is none',
    { domain: 'evil。app.example', uri: 'https://evil。app.example/' },
    'the domain is not that of the URI',
  ],
  ['the same host in capitals', { domain: 'SITE.example' }, 'the domain is not that of the URI'],
  [
    'a host in a fragment',
    { domain: 'evil.example', uri: 'https://evil.example/#.app.example/' },
    'URI is not allowed on this server',
  ],
] as const)('a message for %s opens nothing', async (_, parts, why) => {
  for (const wallet of [ether, sol]) await expectRefused(await attempt(wallet, parts), why);
});

it('a message for another time opens nothing, with or without Not Before', async () => {
  for (const wallet of [ether, sol]) {
    await expectRefused(
      await attempt(wallet, { issuedAt: minutes(-10) }),
      'the message was issued too long ago',
    );
    await expectRefused(
      await attempt(wallet, { issuedAt: minutes(2) }),
      'the message was issued in the future',
    );
    const late = { issuedAt: minutes(-5), expiresAt: minutes(-1) };
    await expectRefused(await attempt(wallet, late), 'the message has expired');
    await expectRefused(
      await attempt(wallet, { ...late, notBefore: minutes(-4) }),
      'the message has expired',
    );
    await expectRefused(await attempt(wallet, { notBefore: minutes(1) }), 'the message is not valid yet');
    // What the message allows itself is less than what the service allows.
    const generous = { issuedAt: minutes(-11), expiresAt: minutes(600) };
    await expectRefused(await attempt(wallet, generous), 'the message was issued too long ago');
  }
});

it('both have an account', async () => {
  for (const wallet of [ether, sol]) expect((await attempt(wallet)).status).toBe(200);
});

it('a message opens one session, whoever sends it again and however often at once', async () => {
  for (const wallet of [ether, sol]) {
    const message = text(wallet);
    const signature = wallet.sign(message);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post(wallet.chain, message, signature)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
    before = await subject.snapshot();
    await expectRefused(await post(wallet.chain, message, signature), 'the message was used before');
    // The same signature in another spelling.
    const spelt =
      wallet.chain === 'solana'
        ? `${signature.replaceAll('-', '+').replaceAll('_', '/')}==`
        : signature.toUpperCase().replace('0X', '0x');
    await expectRefused(await post(wallet.chain, message, spelt), 'the message was used before');
  }
});

const FOREIGN = 'the signature is not that of the account';

it('nobody signs for somebody else', async () => {
  for (const [own, other] of [
    [ethereumWallet(), ether],
    [solanaWallet(), sol],
  ] as const) {
    const message = text(own, { address: other.address });
    await expectRefused(await post(own.chain, message, own.sign(message)), FOREIGN);
    const altered = text(other, { nonce: 'aaaaaaaa' });
    await expectRefused(
      await post(own.chain, altered, other.sign(text(other, { nonce: 'bbbbbbbb' }))),
      FOREIGN,
    );
  }
});

it('a signature with the other s is none, though it fits the key', async () => {
  const message = text(ether);
  const bytes = Buffer.from(ether.sign(message).slice(2), 'hex');
  const order = secp256k1.Point.Fn.ORDER;
  const high = order - BigInt(`0x${bytes.toString('hex', 32, 64)}`);
  const v = bytes[64] === 27 ? 28 : 27;
  const malleated = `0x${bytes.toString('hex', 0, 32)}${high.toString(16).padStart(64, '0')}${v.toString(16)}`;
  await expectRefused(await post('ethereum', message, malleated), FOREIGN);

  const signed = text(sol);
  const raw = Buffer.from(sol.sign(signed), 'base64url');
  const s =
    BigInt(`0x${Buffer.from(raw.subarray(32)).reverse().toString('hex')}`) +
    2n ** 252n +
    27742317777372353535851937790883648493n;
  const wide = Buffer.concat([
    raw.subarray(0, 32),
    Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse(),
  ]);
  await expectRefused(await post('solana', signed, wide.toString('base64url')), FOREIGN);
});

it('an address that nobody has the key of cannot be signed for', async () => {
  // Points of small order: a signature of zeros fits them often enough.
  for (const key of ['01', '00', 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f']) {
    const raw = Buffer.from(key.padEnd(64, '0'), 'hex');
    const wallet = { chain: 'solana', address: base58(raw), sign: () => '' } as const;
    for (const first of ['01', '00']) {
      const forged = Buffer.from(first.padEnd(128, '0'), 'hex').toString('base64url');
      await expectRefused(await post('solana', text(wallet), forged), FOREIGN);
    }
  }
});

it('a checksum that is wrong is a mistyped address', async () => {
  const right = checksummed(ether.address);
  const otherCase = (letter: string) =>
    letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
  // Letters of one case have no checksum.
  const wrong = Array.from(
    right,
    (letter, at) => `${right.slice(0, at)}${otherCase(letter)}${right.slice(at + 1)}`,
  ).find((one) => one !== right && /^0x.*[a-f]/.test(one) && /[A-F]/.test(one));
  await expectRefused(await attempt(ether, { address: wrong ?? '' }), FOREIGN);
});

it.each([
  '',
  '0x',
  '0x00',
  'AAAA',
  '0'.repeat(130),
  `0x${'0'.repeat(130)}`,
  `0x${'f'.repeat(130)}`,
  `0x${'zz'.repeat(65)}`,
  'A'.repeat(86),
  `${'A'.repeat(85)}B`,
  'A'.repeat(100_000),
])('a signature %.12s… of another length or kind is refused', async (signature) => {
  for (const wallet of [ether, sol])
    await expectRefused(await post(wallet.chain, text(wallet), signature), FOREIGN);
});

it('a message is neither tiny nor huge', async () => {
  for (const message of [
    '',
    'x'.repeat(63),
    'x'.repeat(20_481),
    text(ether, { statement: '🦊'.repeat(5200) }),
  ]) {
    const answer = await post('ethereum', message, ether.sign(message));
    expect([answer.status, answer.body['error_code']]).toEqual([400, 'validation_failed']);
    expect(await subject.snapshot()).toBe(before);
  }
});

it('a message cannot be read in two ways', async () => {
  for (const statement of [
    'x\u2028URI: https://evil.example/',
    'x\rURI: https://evil.example/',
    'x\u0085y',
    'x\u009by',
  ]) {
    for (const wallet of [ether, sol]) {
      await expectRefused(await attempt(wallet, { statement }), 'the message has control characters');
    }
  }
  await expectRefused(
    await attempt(sol, { nonce: '12345678\nURI: https://evil.example/' }),
    'the message has URI twice',
  );
  await expectRefused(
    await attempt(ether, { nonce: '12345678\nURI: https://evil.example/' }),
    'the message has no Issued At where it belongs',
  );
});

it('what is no text, and chains there are not, are told apart from refusals', async () => {
  for (const body of [{ chain: 1 }, { message: {} }, { signature: [] }, { message: 'a\0b' }]) {
    const answer = await subject.post('/token?grant_type=web3', body);
    expect([answer.status, answer.body['error_code']]).toEqual([400, 'bad_json']);
  }
  for (const chain of ['', 'bitcoin', 'Ethereum', 'toString']) {
    const answer = await post(chain, text(ether), '');
    expect([answer.status, answer.body['error_code']]).toEqual([400, 'web3_unsupported_chain']);
  }
  expect(await subject.snapshot()).toBe(before);
});

it('a message of one chain is not one of the other', async () => {
  const message = text(ether);
  await expectRefused(
    await post('solana', message, ether.sign(message)),
    'the message does not begin as it must',
  );
});

it('a session that is forged into user metadata stays out: the statement is text, and short', async () => {
  const wallet = solanaWallet();
  const statement = `{"role":"service_role"}${'x'.repeat(5000)}`;
  const { status, body } = await attempt(wallet, { statement });
  expect(status).toBe(200);
  expect(body.user?.['role']).not.toBe('service_role');
  expect(JSON.stringify(body.user?.['user_metadata']).length).toBeLessThan(1000);
});
