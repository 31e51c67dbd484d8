import { createHmac, timingSafeEqual } from 'node:crypto';

/** Length of a step; with digits and hash it is what every authenticator app can do. */
export const STEP_SECONDS = 30;
export const DIGITS = 6;
/** 160 bits, as RFC 4226 §4 recommends. */
export const KEY_BYTES = 20;

/** A code of the step before and the one after counts: clocks differ, and people type slowly. */
const SKEW_STEPS = [-1, 0, 1];

const WELL_FORMED = /^[0-9]{6}$/;
/** As long as a code, and like none. */
const NO_CODE = '------';

/** The code of a step (RFC 6238 §4.2, RFC 4226 §5.3). */
export function totpCode(key: Buffer, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac('sha1', key).update(counter).digest();
  const offset = hash.readUInt8(hash.length - 1) & 15;
  const number = hash.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * The step a code is of, the latest when it is of several; undefined when it is of none that counts now. Every code
 * takes the same work, whatever it looks like.
 */
export function stepOf(key: Buffer, code: string, now: Date): number | undefined {
  const current = Math.floor(now.getTime() / 1000 / STEP_SECONDS);
  const typed = Buffer.from(WELL_FORMED.test(code) ? code : NO_CODE);
  let found: number | undefined;
  for (const skew of SKEW_STEPS) {
    const step = current + skew;
    if (timingSafeEqual(Buffer.from(totpCode(key, step)), typed)) found = step;
  }
  return found;
}
