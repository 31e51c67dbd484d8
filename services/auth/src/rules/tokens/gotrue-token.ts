import { createHash, createHmac } from 'node:crypto';

const SEAL_BYTES = 16;
const CHECKSUM_BYTES = 4;

/**
 * The refresh token that GoTrue derives from the state of a session, where it keeps no row for each: a zero, the session, the counter, an HMAC of these and a checksum.
 * @param key 32 bytes
 */
export function deriveGoTrueToken(sessionId: string, counter: number, key: Buffer): string {
  const head = Buffer.concat([
    Buffer.of(0),
    Buffer.from(sessionId.replaceAll('-', ''), 'hex'),
    varint(counter),
  ]);
  const seal = createHmac('sha256', key).update(head).digest().subarray(0, SEAL_BYTES);
  const body = Buffer.concat([head, seal]);
  const checksum = createHash('sha256').update(body).digest().subarray(0, CHECKSUM_BYTES);
  return Buffer.concat([body, checksum]).toString('base64url');
}

/** Seven bits a byte, the lowest first; the highest bit says that more follow. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}
