import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request with a form as a provider looks at it. */
export interface FormRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Undefined when the body is no form. */
  form: URLSearchParams | undefined;
}

/** What the server answers: JSON with a status, nothing until the client gives up, or a broken connection. */
export type FormAnswer = { status: number; body: unknown } | 'silence' | 'hang-up';

/** A provider on loopback. */
export interface FormServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly FormRequest[];
  /** Answers the next requests, one each, instead of the provider's own answers. */
  answerNext(...answers: readonly FormAnswer[]): void;
}

/** Starts a server that answers forms; `decide` is the provider's logic. */
export async function formServer(decide: (request: FormRequest) => FormAnswer): Promise<FormServer> {
  const requests: FormRequest[] = [];
  const planned: FormAnswer[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const isForm = incoming.headers['content-type'] === 'application/x-www-form-urlencoded';
    const request: FormRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      form: isForm ? new URLSearchParams(Buffer.concat(chunks).toString('utf8')) : undefined,
    };
    requests.push(request);
    const answer = planned.shift() ?? decide(request);
    if (answer === 'silence') return;
    if (answer === 'hang-up') {
      response.destroy();
      return;
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerNext: (...answers) => void planned.push(...answers),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** User and password of HTTP Basic, joined by a colon. */
export function basicOf(request: FormRequest): string {
  const encoded = /^Basic (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  return Buffer.from(encoded, 'base64').toString('utf8');
}
