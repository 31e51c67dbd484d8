import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { Secret } from '@croft/settings';

/**
 * What the server's own key does for data in the database: short secrets are hashed with it, so that a copy of the
 * tables cannot be searched, and texts that must be read again are sealed with it.
 */
export interface AtRest {
  /** Keyed hash of a one-time code, as hex. */
  hashCode(tokenHash: string): string;
  /** Key refresh tokens are made and sealed with. */
  readonly refreshTokens: KeyObject;
  /** The same 16 bytes for the same text, for ids that must look random and stay the same. */
  stableId(text: string): Buffer;
  /** Encrypts and authenticates a text (AES-256-GCM), as base64url. */
  seal(text: string): string;
  /** @throws Error when the text was not sealed with this key */
  open(sealed: string): string;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Derives one key for each purpose, so that no output of one can serve another. */
export function atRest(secret: Secret): AtRest {
  const master = createSecretKey(secret.reveal(), 'utf8');
  const keyFor = (purpose: string): KeyObject => createSecretKey(hmac(master, `croft auth ${purpose}`));
  const codes = keyFor('one-time codes');
  const ids = keyFor('stable ids');
  const sealing = keyFor('sealed texts');
  return {
    hashCode: (tokenHash) => hmac(codes, tokenHash).toString('hex'),
    refreshTokens: keyFor('refresh tokens'),
    stableId: (text) => hmac(ids, text).subarray(0, 16),
    seal(text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing, iv);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return (
        decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      );
    },
  };
}

function hmac(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
