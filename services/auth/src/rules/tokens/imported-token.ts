import { createHmac, type KeyObject } from 'node:crypto';
import type { RefreshToken } from './refresh-token.ts';

/** Of a token that was made elsewhere; its child is the first one of ours. */
const COUNTER_OF_IMPORTED = -1;

/** Twelve letters and digits, sixteen bytes, or what GoTrue signs with a key of the session. */
const SHAPE = /^(?:[a-z0-9]{12}|[\w-]{22}|[\w-]{51,62})$/;

/** Whether a text can be a refresh token that GoTrue made. Ours are longer. */
export function canBeImported(text: string): boolean {
  return SHAPE.test(text);
}

/** What stands for the text of such a token. Twelve letters are few: without the key they could be tried out. */
export function importedSecret(text: string, key: KeyObject): Buffer {
  return createHmac('sha256', key).update('imported ').update(text).digest();
}

/** Such a token as one of the family that continues its session. */
export function importedToken(sessionId: string, secret: Buffer): RefreshToken {
  return { sessionId, counter: COUNTER_OF_IMPORTED, secret };
}
