import { describe, expect, it } from 'vitest';
import { decodeBase58 } from './base58.ts';
import { parseEthereumMessage } from './ethereum-message.ts';
import { isChecksummed, recoverEthereumAddress } from './ethereum-signature.ts';
import { MalformedMessage } from './signed-message.ts';
import { parseSolanaMessage } from './solana-message.ts';

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const ETHEREUM = `site.example wants you to sign in with your Ethereum account:
${ADDRESS}

I accept the terms – alle 🦊

URI: https://site.example/login
Version: 1
Chain ID: 1
Nonce: 32891756
Issued At: 2026-09-30T16:25:24Z
Expiration Time: 2026-09-30T18:25:24.5+02:00
Not Before: 2026-09-30T16:00:00Z
Request ID: a/b
Resources:
- https://one.example/
- ipfs://two`;
const KEY = '7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv';
const SOLANA = `site.example wants you to sign in with your Solana account:
${KEY}

Come in

Version: 1
URI: https://site.example/login
Issued At: 2026-09-30T16:25:24Z
Chain ID: solana:devnet
Resources
- https://one.example/`;

describe('a message of Ethereum (EIP-4361)', () => {
  it('is taken apart', () => {
    expect(parseEthereumMessage(ETHEREUM)).toEqual({
      scheme: undefined,
      domain: 'site.example',
      address: ADDRESS,
      statement: 'I accept the terms – alle 🦊',
      uri: 'https://site.example/login',
      version: '1',
      chainId: '1',
      nonce: '32891756',
      issuedAt: new Date('2026-09-30T16:25:24Z'),
      expiresAt: new Date('2026-09-30T16:25:24.5Z'),
      notBefore: new Date('2026-09-30T16:00:00Z'),
    });
  });
  it('needs neither a statement nor a nonce, and may name its scheme', () => {
    const text = `https://${ETHEREUM}`.replace('I accept the terms – alle 🦊\n', '').replace(/Nonce.*\n/, '');
    expect(parseEthereumMessage(text)).toMatchObject({
      scheme: 'https',
      statement: undefined,
      nonce: undefined,
    });
  });
  it.each(
    [
      ['', 'nothing'],
      [ETHEREUM.replace('Ethereum', 'Solana'), 'another kind of account'],
      [ETHEREUM.replaceAll('\n', '\r\n'), 'other line ends'],
      [ETHEREUM.replace('terms', 'te\u2028rms'), 'a line separator'],
      [ETHEREUM.replace('terms', 'te\u0085rms'), 'a next line character'],
      [ETHEREUM.replace('terms', 'te\ud800rms'), 'half a character'],
      [ETHEREUM.replace(ADDRESS, ADDRESS.slice(0, -1)), 'a short address'],
      [ETHEREUM.replace('0x5', '0X5'), 'a capital X'],
      [ETHEREUM.replace('Version: 1', 'Version: 2'), 'another version'],
      [ETHEREUM.replace('Chain ID: 1', 'Chain ID: 01'), 'a chain with a leading zero'],
      [ETHEREUM.replace('Chain ID: 1\n', ''), 'no chain'],
      [ETHEREUM.replace('Nonce: 32891756', 'Nonce: 3289'), 'a short nonce'],
      [ETHEREUM.replace('Nonce: 32891756', 'Nonce: 3289-1756'), 'a nonce with a hyphen'],
      [ETHEREUM.replace('2026-09-30T16:25:24Z', '2026-02-30T16:25:24Z'), 'a day that is not'],
      [ETHEREUM.replace('2026-09-30T16:25:24Z', '2026-09-30 16:25:24'), 'a time without a zone'],
      [ETHEREUM.replace('2026-09-30T16:25:24Z', 'yesterday'), 'no time'],
      [
        ETHEREUM.replace(
          'URI: https://site.example/login\nVersion: 1',
          'Version: 1\nURI: https://site.example/login',
        ),
        'another order',
      ],
      [ETHEREUM.replace('Version: 1', 'URI: https://other.example\nVersion: 1'), 'a second URI'],
      [`${ETHEREUM}\nURI: https://other.example`, 'a field at the end'],
      [`${ETHEREUM}\n`, 'an empty line at the end'],
      [ETHEREUM.replace('I accept the terms – alle 🦊\n', 'one\ntwo\n'), 'a statement of two lines'],
    ].map(([text = '', what = '']) => [what, text] as const),
  )('with %s is refused', (_, text) => {
    expect(() => parseEthereumMessage(text)).toThrow(MalformedMessage);
  });
});

describe('a message of Solana', () => {
  it('is taken apart, whatever the order of its fields', () => {
    expect(parseSolanaMessage(SOLANA)).toEqual({
      scheme: undefined,
      domain: 'site.example',
      address: KEY,
      statement: 'Come in',
      uri: 'https://site.example/login',
      version: '1',
      chainId: 'solana:devnet',
      nonce: undefined,
      issuedAt: new Date('2026-09-30T16:25:24Z'),
      expiresAt: undefined,
      notBefore: undefined,
    });
    const bare = SOLANA.replace('Come in\n\n', '').replace('Resources', 'Resources:');
    expect(parseSolanaMessage(bare)).toMatchObject({
      statement: undefined,
      uri: 'https://site.example/login',
    });
  });
  it.each(
    [
      [SOLANA.replace('Issued At: 2026-09-30T16:25:24Z\n', ''), 'no time'],
      [SOLANA.replace('URI: https://site.example/login\n', ''), 'no URI'],
      [SOLANA.replace('Version: 1', 'URI: https://other.example'), 'two URIs'],
      [SOLANA.replace('solana:devnet', 'ethereum'), 'another chain'],
      [SOLANA.replace(KEY, KEY.replace('7', '0')), 'a character that base58 lacks'],
      [SOLANA.replace('Come in', 'one\ntwo'), 'a statement of two lines'],
      [`${SOLANA}\nhello`, 'a line at the end'],
    ].map(([text = '', what = '']) => [what, text] as const),
  )('with %s is refused', (_, text) => {
    expect(() => parseSolanaMessage(text)).toThrow(MalformedMessage);
  });
});

it('a message of any size and shape takes time in its length alone', () => {
  const begun = performance.now();
  for (const filler of [
    '\n',
    '- x\n',
    'Resources:\n',
    'URI: x\n',
    '0x',
    ' wants you to sign in with your ',
    'a://',
  ]) {
    const text = filler.repeat(Math.ceil(20_480 / filler.length));
    for (const parse of [parseEthereumMessage, parseSolanaMessage]) {
      expect(() => parse(text)).toThrow(MalformedMessage);
      expect(() =>
        parse(`${ETHEREUM}

${text}`),
      ).toThrow(MalformedMessage);
    }
  }
  expect(performance.now() - begun).toBeLessThan(500);
});

it('capitals of an address are a checksum (EIP-55, its own examples)', () => {
  expect(isChecksummed(ADDRESS)).toBe(true);
  expect(isChecksummed('0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359')).toBe(true);
  expect(isChecksummed(ADDRESS.toLowerCase())).toBe(true);
  expect(isChecksummed(ADDRESS.replace('aA', 'AA'))).toBe(false);
});

it('base58 keeps leading zeros and knows its characters', () => {
  expect(decodeBase58('1'.repeat(32))).toEqual(Buffer.alloc(32));
  expect(decodeBase58('StV1DL6CwTryKyV')?.toString()).toBe('hello world');
  expect(decodeBase58('0OIl')).toBeUndefined();
  expect(decodeBase58('')).toEqual(Buffer.alloc(0));
});

it('bytes that are no signature have no signer', () => {
  for (const bytes of ['00'.repeat(65), 'ff'.repeat(65), `${'00'.repeat(64)}1b`, '11', '']) {
    expect(recoverEthereumAddress('x', `0x${bytes}`)).toBeUndefined();
  }
});
