import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

// Standard Webhooks, https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

const LEAST_BYTES = 24;
const MOST_BYTES = 64;

/**
 * The keys of a setting: `v1,whsec_<base64>`, several separated by `|`, of which a receiver needs to know one.
 * @throws Error that says what was expected and repeats nothing of the secret
 */
export function readWebhookKeys(text: string): KeyObject[] {
  return text.split('|').map((secret) => {
    const [, base64] = /^v1,whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim()) ?? [];
    const key = base64 === undefined ? undefined : Buffer.from(base64, 'base64');
    if (key === undefined || key.length < LEAST_BYTES || key.length > MOST_BYTES)
      throw new Error(
        `must be v1,whsec_<base64 of ${LEAST_BYTES} to ${MOST_BYTES} bytes>, several separated by |`,
      );
    // Made once: to make one for each signature takes several times as long as to sign.
    return createSecretKey(key);
  });
}

/** What a request is known by: the same for every attempt, but for the time. */
export interface SignedMessage {
  id: string;
  /** Seconds since the epoch. */
  timestamp: number;
  body: string;
}

/** The headers that show whom a request comes from, with a signature for each key. */
export function webhookHeaders(
  keys: readonly KeyObject[],
  { id, timestamp, body }: SignedMessage,
): Record<string, string> {
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
