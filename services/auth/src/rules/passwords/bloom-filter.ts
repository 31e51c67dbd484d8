/** A set that may say yes to what it never saw, never no to what it did, in a fixed space. */
export interface BloomFilter {
  /** How many were added. */
  readonly size: number;
  /** @param digest 12 bytes at least, of a cryptographic hash: they are used as random numbers */
  add(digest: Buffer): void;
  has(digest: Buffer): boolean;
}

/** Bytes of the digest that one of the two random numbers takes. */
const NUMBER_BYTES = 6;

/**
 * A Bloom filter (Bloom 1970) with the best number of bits and probes for what it is to hold; the probes are two
 * numbers of the digest in different mixtures (Kirsch and Mitzenmacher 2006).
 * @param items how many it is made for; with more it says yes too often
 * @param falsePositives share of wrong answers when it holds that many, between 0 and 1
 */
export function createBloomFilter(items: number, falsePositives: number): BloomFilter {
  const bits = Math.max(8, Math.ceil((-items * Math.log(falsePositives)) / Math.LN2 ** 2));
  const probes = Math.max(1, Math.round((bits / items) * Math.LN2));
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  let size = 0;

  /** Whether `visit` was true for each bit of the digest. */
  const every = (digest: Buffer, visit: (byte: number, mask: number) => boolean): boolean => {
    const start = digest.readUIntBE(0, NUMBER_BYTES) % bits;
    // Never 0, or all probes were one.
    const step = (digest.readUIntBE(NUMBER_BYTES, NUMBER_BYTES) % (bits - 1)) + 1;
    for (let probe = 0; probe < probes; probe++) {
      const bit = (start + probe * step) % bits;
      if (!visit(Math.floor(bit / 8), 1 << (bit % 8))) return false;
    }
    return true;
  };

  return {
    get size() {
      return size;
    },
    add(digest) {
      every(digest, (byte, mask) => {
        bytes[byte] = (bytes[byte] ?? 0) | mask;
        return true;
      });
      size++;
    },
    has: (digest) => every(digest, (byte, mask) => ((bytes[byte] ?? 0) & mask) !== 0),
  };
}
