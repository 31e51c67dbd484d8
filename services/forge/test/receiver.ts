import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect } from 'vitest';

/** Something that arrived. */
export interface Delivery {
  headers: IncomingMessage['headers'];
  text: string;
  event: string;
  /** The payload, whichever way it came. */
  payload: Record<string, unknown> & Record<'repository' | 'sender', Record<string, unknown>>;
}

/** A real receiver of webhooks on loopback. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly deliveries: Delivery[];
  /** How it answers; 200 when nothing is set. */
  answer: (delivery: Delivery, response: ServerResponse) => void;
  /** The payloads of an event, in the order of arrival, once there are so many. */
  take(event: string, count?: number): Promise<Delivery['payload'][]>;
  clear(): void;
}

/** Starts a receiver for the tests of a file. */
export async function startReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded';
    const json = isForm ? new URLSearchParams(text).get('payload') : text;
    const event = String(request.headers['x-gitea-event-type']);
    const delivery = {
      headers: request.headers,
      text,
      event,
      payload: JSON.parse(json ?? '{}') as Delivery['payload'],
    };
    deliveries.push(delivery);
    receiver.answer(delivery, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/in`,
    port,
    deliveries,
    answer: (_delivery, response) => response.end('thanks'),
    async take(event, count = 1) {
      const some = () => deliveries.filter((one) => one.event === event);
      await expect.poll(() => some().length).toBe(count);
      return some().map(({ payload }) => payload);
    },
    clear: () => void deliveries.splice(0),
  };
  return receiver;
}

/** What signs a payload, as every receiver computes it. */
export const signature = (algorithm: 'sha1' | 'sha256', secret: string, text: string) =>
  createHmac(algorithm, secret).update(text).digest('hex');
