import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';

/**
 * Address, in lower case, of the account that signed a message with `personal_sign` (EIP-191).
 * @param signature `r`, `s` and `v` in hexadecimal
 * @returns undefined for what is no signature, and for one whose `s` is in the upper half: anybody can turn a good one
 * into that, and wallets make none (EIP-2)
 */
export function recoverEthereumAddress(message: string, signature: string): string | undefined {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return undefined;
  const bytes = Buffer.from(signature.slice(2), 'hex');
  const v = bytes[64] ?? -1;
  // Some hardware wallets write the bit itself instead of 27 and 28.
  const recovery = v >= 27 ? v - 27 : v;
  if (recovery !== 0 && recovery !== 1) return undefined;
  try {
    const parts = secp256k1.Signature.fromBytes(bytes.subarray(0, 64), 'compact').addRecoveryBit(recovery);
    if (parts.hasHighS()) return undefined;
    const key = parts.recoverPublicKey(personalHash(message)).toBytes(false);
    return `0x${Buffer.from(keccak_256(key.subarray(1))).toString('hex', 12)}`;
  } catch {
    // Numbers that no signature has.
    return undefined;
  }
}

/** Hash of a message as wallets sign it, which no transaction has. */
export function personalHash(message: string): Uint8Array {
  const body = Buffer.from(message, 'utf8');
  return keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${body.length}`), body]));
}

/**
 * Whether capitals of an address are right (EIP-55); one without any, or of nothing but capitals, says nothing by them.
 * @param address `0x` and 40 hexadecimal digits
 */
export function isChecksummed(address: string): boolean {
  const digits = address.slice(2);
  const small = digits.toLowerCase();
  if (digits === small || digits === digits.toUpperCase()) return true;
  const hash = Buffer.from(keccak_256(Buffer.from(small))).toString('hex');
  return Array.from(small).every((digit, index) => {
    const isCapital = Number.parseInt(hash[index] ?? '0', 16) >= 8;
    return digits[index] === (isCapital ? digit.toUpperCase() : digit);
  });
}
