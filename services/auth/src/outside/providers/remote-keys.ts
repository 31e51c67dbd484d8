import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { ask, objectOf, objectsOf, textOf } from './answers.ts';
import type { Client } from './provider.ts';
import { type Remembered, remembered } from './remembered.ts';

/** The public keys of an issuer. */
export interface Keys {
  /** The key of that id, for tokens signed in that way. @throws ProviderRefused when the issuer cannot be asked */
  find(keyId: string, alg: unknown, signal: AbortSignal): Promise<KeyObject | undefined>;
}

interface PublicKey {
  key: KeyObject;
  /** The only way the issuer signs with it, if it says so. */
  alg: unknown;
}

/** More than any issuer has; each costs the time to read it. */
const MAX_KEYS = 100;

/** Keys as a JWK set at a URL. A key id is looked up among them and nothing else: it is no path and no address. */
export function remoteKeys(client: Client): (url: string) => Keys {
  const sets = new Map<string, Remembered<ReadonlyMap<string, PublicKey>>>();
  return (url) => {
    const set =
      sets.get(url) ??
      remembered(client.clock, async (signal) => readKeys(await ask(client.http, 'keys', url, {}, signal)));
    sets.set(url, set);
    return {
      async find(keyId, alg, signal) {
        const found = (await set(signal, (keys) => keys.has(keyId))).get(keyId);
        return found === undefined || (found.alg !== undefined && found.alg !== alg) ? undefined : found.key;
      },
    };
  };
}

function readKeys(set: unknown): ReadonlyMap<string, PublicKey> {
  const keys = new Map<string, PublicKey>();
  for (const jwk of objectsOf(objectOf(set)['keys']).slice(0, MAX_KEYS)) {
    if (jwk['use'] !== undefined && jwk['use'] !== 'sig') continue;
    try {
      const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
      keys.set(textOf(jwk['kid']), { key, alg: jwk['alg'] });
    } catch {
      // A kind of key we do not know; those we need are still there.
    }
  }
  return keys;
}
