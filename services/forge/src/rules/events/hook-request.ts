import { createHmac } from 'node:crypto';

/** What is sent to a hook, with its secrets open. */
export interface HookRequest {
  uuid: string;
  /** The coarse and the fine name of the event. */
  event: string;
  eventType: string;
  contentType: 'json' | 'form';
  payload: string;
  /** Empty when the hook has none. */
  secret: string;
  /** What kind of place the hook belongs to: `repository`, `organization`, `user` or `system`. */
  target: string;
}

/**
 * Headers and body of a delivery (reference §4.1). Signatures are made of the payload, in a form too, where receivers of the
 * reference's read it before they check it; without a secret they are there, and empty.
 */
export function writeHookRequest(hook: HookRequest): {
  headers: Record<string, string>;
  body: { type: string; text: string };
} {
  const body =
    hook.contentType === 'json'
      ? { type: 'application/json', text: hook.payload }
      : {
          type: 'application/x-www-form-urlencoded',
          text: new URLSearchParams({ payload: hook.payload }).toString(),
        };
  const digest = (algorithm: string) =>
    hook.secret === '' ? '' : createHmac(algorithm, hook.secret).update(hook.payload).digest('hex');
  const sha256 = digest('sha256');
  const named = {
    Delivery: hook.uuid,
    Event: hook.event,
    'Event-Type': hook.eventType,
  };
  const headers: Record<string, string> = {};
  for (const family of ['X-Gitea', 'X-Gogs', 'X-GitHub']) {
    for (const [name, value] of Object.entries(named)) headers[`${family}-${name}`] = value;
  }
  headers['X-Gitea-Signature'] = sha256;
  headers['X-Gogs-Signature'] = sha256;
  headers['X-Hub-Signature'] = `sha1=${digest('sha1')}`;
  headers['X-Hub-Signature-256'] = `sha256=${sha256}`;
  headers['X-Gitea-Hook-Installation-Target-Type'] = hook.target;
  headers['X-GitHub-Hook-Installation-Target-Type'] = hook.target;
  return { headers, body };
}

/** Whether it makes sense to send the same again: the receiver is overloaded or broken, and did not say no. */
export function isWorthRetrying(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}
