import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answerDirectly, type DirectBody } from '../src/index.ts';

const ROOM = 16;
const CHUNKS = [1, 9, 65_536, 300_000, 16].map((length) => randomBytes(length));
const BYTES = Buffer.concat(CHUNKS);

const app = Fastify();
let port = 0;
const ended: string[] = [];

/** With room for frames around its chunks, or without. */
const body = (name: string, chunks: readonly Buffer[], room: number): DirectBody => ({
  async copyTo(target) {
    target.once('close', () => void ended.push(name));
    // As a program's output does: one buffer, used again as soon as it was written.
    const shared = Buffer.alloc(400_000);
    for (const chunk of chunks) {
      chunk.copy(shared, room);
      const { promise, resolve } = Promise.withResolvers<unknown>();
      if (target.take({ memory: shared, start: room, end: room + chunk.length }, resolve)) continue;
      const failed = await promise;
      if (failed) return;
    }
  },
});

app.get('/bytes', (_request, reply) =>
  answerDirectly(reply.header('x-kind', 'direct'), body('bytes', CHUNKS, ROOM)),
);
app.get('/cramped', (_request, reply) => answerDirectly(reply, body('cramped', CHUNKS, 0)));
app.get('/endless', (_request, reply) =>
  answerDirectly(reply, body('endless', Array(1_000_000).fill(CHUNKS[3]), ROOM)),
);

beforeAll(async () => {
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(async () => {
  app.server.closeAllConnections();
  await app.close();
});

/** Everything that a server says to these words before it hangs up. */
async function say(words: string): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  socket.write(words);
  return await buffer(socket);
}

it('brings every byte, and the next answer on the same connection', async () => {
  for (let round = 0; round < 3; round++) {
    const answer = await fetch(`http://127.0.0.1:${port}/bytes`);
    expect([answer.status, answer.headers.get('x-kind')]).toEqual([200, 'direct']);
    expect(Buffer.from(await answer.arrayBuffer()).equals(BYTES)).toBe(true);
  }
});

it('brings chunks without room for a frame', async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/cramped`);
  expect(Buffer.from(await answer.arrayBuffer()).equals(BYTES)).toBe(true);
});

it('frames nothing for a client that knows no chunks', async () => {
  const answer = await say('GET /bytes HTTP/1.0\r\n\r\n');
  const start = answer.indexOf('\r\n\r\n') + 4;
  expect(answer.toString('latin1', 0, start)).not.toMatch(/transfer-encoding/i);
  expect(answer.subarray(start).equals(BYTES)).toBe(true);
});

it('keeps the order of answers that were asked for at once', async () => {
  const request = (last: boolean) =>
    `GET /bytes HTTP/1.1\r\nhost: x\r\n${last ? 'connection: close\r\n' : ''}\r\n`;
  const answer = (await say(request(false) + request(false) + request(true))).toString('latin1');
  const bodies = answer
    .split(/HTTP\/1\.1 200 OK\r\n/)
    .slice(1)
    .map(unchunked);
  expect(bodies.map((one) => one.equals(BYTES))).toEqual([true, true, true]);
});

it('stops when its reader goes away', async () => {
  const socket = connect(port, '127.0.0.1', () => socket.write('GET /endless HTTP/1.1\r\nhost: x\r\n\r\n'));
  await once(socket, 'data');
  socket.destroy();
  await expect.poll(() => ended).toContain('endless');
});

function unchunked(answer: string): Buffer {
  let at = answer.indexOf('\r\n\r\n') + 4;
  const parts: Buffer[] = [];
  for (;;) {
    const end = answer.indexOf('\r\n', at);
    const length = Number.parseInt(answer.slice(at, end), 16);
    if (length === 0) return Buffer.concat(parts);
    parts.push(Buffer.from(answer.slice(end + 2, end + 2 + length), 'latin1'));
    at = end + 2 + length + 2;
  }
}
