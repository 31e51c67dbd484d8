import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { type Client, ProviderRefused } from '../provider.ts';

/** Who signs client secrets, when the configured secret is a private key. */
export interface AppleKey {
  teamId: string | undefined;
  keyId: string | undefined;
}

const LIFE_SECONDS = 300;

/**
 * The client secret of a token request. Apple takes a JWT signed by the team's key, for half a year at most: a ready
 * one is passed on, and with the key itself (PEM) a new one is made for each request, so none ever runs out.
 */
export function appleSecret(client: Client, { teamId, keyId }: AppleKey): string {
  if (!isPrivateKey(client.secret)) return client.secret;
  const iat = Math.floor(client.clock.now().getTime() / 1000);
  const claims = {
    iss: teamId,
    iat,
    exp: iat + LIFE_SECONDS,
    aud: 'https://appleid.apple.com',
    sub: client.id,
  };
  const signed = [{ alg: 'ES256', kid: keyId }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const key = { key: readKey(client.secret), dsaEncoding: 'ieee-p1363' } as const;
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

/** Whether the secret is a private key rather than a ready JWT. */
function isPrivateKey(secret: string): boolean {
  return secret.trimStart().startsWith('-----BEGIN');
}

/** A value in an environment file often has `\n` in place of line ends. */
function readKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem.replaceAll('\\n', '\n'));
  } catch (error) {
    throw new ProviderRefused('exchange', 'EXTERNAL_APPLE_SECRET is no private key', error);
  }
  if (key.asymmetricKeyType !== 'ec') {
    throw new ProviderRefused('exchange', 'EXTERNAL_APPLE_SECRET is no key for ES256');
  }
  return key;
}
