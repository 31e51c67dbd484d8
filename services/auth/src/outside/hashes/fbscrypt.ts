import { createCipheriv, scrypt, timingSafeEqual } from 'node:crypto';
import { type HashKind, MAX_WEIGHT } from './hash-kind.ts';

/**
 * Hashes exported from Firebase, in the form GoTrue imports them:
 * `$fbscrypt$v=1,n=<log2 of N>,r=<r>,p=<p>,ss=<salt separator>,sk=<signer key>$<salt>$<hash>`, the last four in
 * base64. Only checked, never made.
 */
export const fbscrypt: HashKind = {
  read(stored) {
    const parts = FORM.exec(stored)?.groups;
    if (parts === undefined) return undefined;
    const { n, r, p, ss = '', sk = '', salt = '', hash = '' } = parts;
    const costs = { N: 2 ** Number(n), r: Number(r), p: Number(p) };
    const memoryBytes = 128 * costs.N * costs.r;
    // What Firebase takes (N = 2^14, r = 8) is the work of four.
    const weight = Math.max(1, (memoryBytes * costs.p) / 4_194_304);
    if (!(memoryBytes > 0 && costs.p > 0 && memoryBytes <= MAX_MEMORY_BYTES && weight <= MAX_WEIGHT))
      return undefined;
    const signerKey = Buffer.from(sk, 'base64');
    const expected = Buffer.from(hash, 'base64');
    const salted = Buffer.concat([Buffer.from(salt, 'base64'), Buffer.from(ss, 'base64')]);
    // An empty hash would be equal to whatever an empty key encrypts to.
    if (signerKey.length === 0 || expected.length !== signerKey.length) return undefined;
    return {
      weight,
      isOfToday: false,
      async verify(password) {
        const key = await derive(password, salted, { ...costs, maxmem: 2 * memoryBytes });
        const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
        return timingSafeEqual(Buffer.concat([cipher.update(signerKey), cipher.final()]), expected);
      },
    };
  },
};

const FORM =
  /^\$fbscrypt\$v=1,n=(?<n>\d{1,2}),r=(?<r>\d{1,3}),p=(?<p>\d{1,3})(?:,ss=(?<ss>[\w+/-]*={0,2}))?,sk=(?<sk>[\w+/-]+={0,2})\$(?<salt>[\w+/-]+={0,2})\$(?<hash>[\w+/-]+={0,2})$/;

/** A check holds this much for as long as it runs. */
const MAX_MEMORY_BYTES = 1_073_741_824;

function derive(
  password: string,
  salt: Buffer,
  costs: { N: number; r: number; p: number; maxmem: number },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, 32, costs, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}
