import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a hook was asked, once its signature was found in order. */
export interface Question {
  id: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown> & {
    metadata: { uuid: string; time: string; name: string; ip_address?: string };
  };
}

type Answer = object | ((response: ServerResponse, question: Question) => void);

/** A hook of somebody's on loopback. */
export interface HookEmulator extends AsyncDisposable {
  readonly url: string;
  /** A key for `AUTHSVC_HOOK_…_SECRETS`, and the settings that turn the hook on. */
  readonly secret: string;
  settings(name: string): Record<string, string>;
  /** Questions that were genuine, in their order; others are answered 401. */
  readonly questions: Question[];
  /** What it answers from now on: an object as JSON, or whatever the function makes of it. */
  answer: Answer;
}

/** Starts one; `now` is the clock it holds timestamps against. */
export async function hookEmulator(now: () => Date): Promise<HookEmulator> {
  const secretBytes = crypto.getRandomValues(new Uint8Array(32));
  const secret = `v1,whsec_${Buffer.from(secretBytes).toString('base64')}`;
  const questions: Question[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    if (!(await isGenuine(request, text, secretBytes, now()))) return void response.writeHead(401).end();
    const question: Question = {
      id: String(request.headers['webhook-id']),
      headers: request.headers,
      body: JSON.parse(text) as Question['body'],
    };
    questions.push(question);
    const { answer } = emulator;
    if (typeof answer === 'function') return answer(response, question);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const emulator: HookEmulator = {
    url,
    secret,
    questions,
    answer: {},
    settings: (name) => ({
      [`AUTHSVC_HOOK_${name}_ENABLED`]: 'true',
      [`AUTHSVC_HOOK_${name}_URI`]: url,
      [`AUTHSVC_HOOK_${name}_SECRETS`]: secret,
    }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return emulator;
}

const TOLERANCE_SECONDS = 300;

/** As the specification of Standard Webhooks has it, with none of the service's own code and another library's HMAC. */
async function isGenuine(
  request: IncomingMessage,
  body: string,
  secret: Uint8Array<ArrayBuffer>,
  now: Date,
): Promise<boolean> {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = request.headers;
  if (request.method !== 'POST' || request.headers['content-type'] !== 'application/json') return false;
  if (typeof id !== 'string' || typeof time !== 'string' || typeof signatures !== 'string') return false;
  if (Math.abs(now.getTime() / 1000 - Number(time)) > TOLERANCE_SECONDS) return false;
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secret, hmac, false, ['verify']);
  const signed = new TextEncoder().encode(`${id}.${time}.${body}`);
  const checks = signatures.split(' ').map(async (one) => {
    const [version, signature = ''] = one.split(',');
    return (
      version === 'v1' && (await crypto.subtle.verify('HMAC', key, Buffer.from(signature, 'base64'), signed))
    );
  });
  return (await Promise.all(checks)).includes(true);
}
