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
      : { type: 'application/x-www-form-urlencoded', text: `payload=${formEncoded(hook.payload)}` };
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

/** A value as a form has it, byte by byte: three megabytes take `URLSearchParams` half a second, in which nobody is served. */
function formEncoded(value: string): string {
  const bytes = Buffer.from(value);
  const encoded = Buffer.allocUnsafe(3 * bytes.length);
  let end = 0;
  // Not `for … of`, which takes several times as long.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (IS_PLAIN[byte] === 1) encoded[end++] = byte;
    else if (byte === 0x20) encoded[end++] = 0x2b;
    else {
      encoded[end++] = 0x25;
      encoded[end++] = HEX[byte >> 4] as number;
      encoded[end++] = HEX[byte & 15] as number;
    }
  }
  return encoded.toString('latin1', 0, end);
}

const HEX = Buffer.from('0123456789ABCDEF');
/** By byte, what a form has as it is (WHATWG URL, `application/x-www-form-urlencoded` percent-encode set). */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[\w*.-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** Whether it makes sense to send the same again: the receiver is overloaded or broken, and did not say no. */
export function isWorthRetrying(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}
