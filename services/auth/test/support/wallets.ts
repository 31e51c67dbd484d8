import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { personalHash } from '../../src/rules/web3/ethereum-signature.ts';

// Wallets with keys of their own, and the messages they are asked to sign.

/** What signs. */
export interface Wallet {
  chain: 'ethereum' | 'solana';
  address: string;
  sign(message: string): string;
}

/** An account on Ethereum, its address in small letters as the client library writes it. */
export function ethereumWallet(secret: Uint8Array = secp256k1.utils.randomSecretKey()): Wallet {
  const key = secp256k1.getPublicKey(secret, false);
  return {
    chain: 'ethereum',
    address: `0x${Buffer.from(keccak_256(key.subarray(1))).toString('hex', 12)}`,
    sign(message) {
      const signature = secp256k1.sign(personalHash(message), secret, {
        prehash: false,
        format: 'recovered',
      });
      return `0x${Buffer.from(signature.subarray(1)).toString('hex')}${(27 + (signature[0] ?? 0)).toString(16)}`;
    },
  };
}

/** The address with the capitals of EIP-55. */
export function checksummed(address: string): string {
  const small = address.slice(2).toLowerCase();
  const hash = Buffer.from(keccak_256(Buffer.from(small))).toString('hex');
  return `0x${Array.from(small)
    .map((digit, at) => (Number.parseInt(hash[at] ?? '', 16) > 7 ? digit.toUpperCase() : digit))
    .join('')}`;
}

/** An account on Solana. */
export function solanaWallet(): Wallet {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url');
  return solanaWalletOf(raw, privateKey);
}

/** A wallet whose address is not that of its key. */
export function solanaWalletOf(raw: Buffer, key: KeyObject | string): Wallet {
  const privateKey = typeof key === 'string' ? createPrivateKey(key) : key;
  return {
    chain: 'solana',
    address: base58(raw),
    sign: (message) => sign(null, Buffer.from(message), privateKey).toString('base64url'),
  };
}

/** Bytes as Solana writes them. */
export function base58(bytes: Buffer): string {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  let number = BigInt(`0x${bytes.toString('hex') || '0'}`);
  let text = '';
  for (; number > 0n; number /= 58n) text = `${alphabet[Number(number % 58n)]}${text}`;
  for (const byte of bytes) {
    if (byte !== 0) break;
    text = `1${text}`;
  }
  return text;
}

/** What a message says; what is not given is as it should be. */
export interface MessageParts {
  domain?: string;
  scheme?: string;
  address?: string;
  statement?: string | undefined;
  uri?: string;
  version?: string;
  chainId?: string;
  nonce?: string;
  issuedAt: Date | string;
  expiresAt?: Date | string;
  notBefore?: Date | string;
  resources?: string[];
}

const timeText = (time: Date | string): string => (typeof time === 'string' ? time : time.toISOString());

/** The message a page has a wallet sign. */
export function messageFor({ chain, address }: Wallet, parts: MessageParts): string {
  const { domain = 'site.example', statement = 'Come in', uri = 'https://site.example/in' } = parts;
  const { nonce = randomBytes(8).toString('hex'), expiresAt, notBefore, resources } = parts;
  const name = chain === 'ethereum' ? 'Ethereum' : 'Solana';
  const isEthereum = chain === 'ethereum';
  return [
    `${parts.scheme === undefined ? '' : `${parts.scheme}://`}${domain} wants you to sign in with your ${name} account:`,
    parts.address ?? address,
    '',
    ...('statement' in parts && parts.statement === undefined ? (isEthereum ? [''] : []) : [statement, '']),
    `URI: ${uri}`,
    `Version: ${parts.version ?? '1'}`,
    `Chain ID: ${parts.chainId ?? (isEthereum ? '1' : 'mainnet')}`,
    ...(nonce === '' ? [] : [`Nonce: ${nonce}`]),
    `Issued At: ${timeText(parts.issuedAt)}`,
    ...(expiresAt === undefined ? [] : [`Expiration Time: ${timeText(expiresAt)}`]),
    ...(notBefore === undefined ? [] : [`Not Before: ${timeText(notBefore)}`]),
    ...(resources === undefined ? [] : ['Resources:', ...resources.map((one) => `- ${one}`)]),
  ].join('\n');
}
