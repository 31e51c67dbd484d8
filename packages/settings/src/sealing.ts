import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { Secret } from './secret.ts';

/** Keeps texts that must be read again unreadable for whoever has a copy of the tables only. */
export interface Sealing {
  /** Encrypts and authenticates a text (AES-256-GCM). */
  seal(text: string): Buffer;
  /** @throws Error when the text was not sealed with this key for this purpose */
  open(sealed: Uint8Array): string;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Derives a key of its own for the purpose, so that what one seals no other opens. */
export function sealing(secret: Secret, purpose: string): Sealing {
  const key = createHmac('sha256', secret.reveal()).update(purpose).digest();
  return {
    seal(text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]);
    },
    open(sealed) {
      const iv = sealed.subarray(0, IV_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
      decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return (
        decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      );
    },
  };
}
