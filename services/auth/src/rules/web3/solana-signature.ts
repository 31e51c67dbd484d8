import { createPublicKey, verify } from 'node:crypto';
import { decodeBase58 } from './base58.ts';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/**
 * Whether the account signed the message (Ed25519). An address is its public key.
 * @param signature 64 bytes in base64, of either alphabet
 */
export function isSignedBySolana(message: string, address: string, signature: string): boolean {
  const key = decodeBase58(address);
  const bytes = signatureBytes(signature);
  if (key?.length !== KEY_BYTES || bytes === undefined || isOfSmallOrder(key)) return false;
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') };
    return verify(null, Buffer.from(message, 'utf8'), createPublicKey({ key: jwk, format: 'jwk' }), bytes);
  } catch {
    // Bytes that are no point of the curve.
    return false;
  }
}

function signatureBytes(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/_-]{86}(==)?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  const isExact = bytes.toString('base64url') === text.slice(0, 86).replaceAll('+', '-').replaceAll('/', '_');
  return isExact && bytes.length === SIGNATURE_BYTES ? bytes : undefined;
}

/**
 * The y coordinates, little-endian, of the points of order 1, 2, 4 and 8, also where they are written above the prime.
 * Signatures of such a key can be made without knowing anything, and the address of Solana's system program is one.
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]);

function isOfSmallOrder(key: Buffer): boolean {
  const y = Buffer.from(key);
  // The highest bit is the sign of x.
  y[KEY_BYTES - 1] = (y[KEY_BYTES - 1] ?? 0) & 0x7f;
  return SMALL_ORDER.has(y.toString('hex'));
}
