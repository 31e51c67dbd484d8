import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { closeGracefully, listen } from '../src/index.ts';
import { emptyApp, useSampleApp } from './sample-app.ts';

// A server and its connections, and what clients of every kind do to them.

const sample = useSampleApp();
const at = { host: '127.0.0.1', port: 0, portSetting: 'SAMPLE_PORT' };

it('names a busy port and the setting that changes it', async () => {
  const address = await listen(sample.app, at, '/busy');
  const other = await emptyApp();
  const port = Number(new URL(address).port);
  await expect(listen(other, { ...at, port }, '/')).rejects.toThrow(
    `The address 127.0.0.1:${port} is in use. Stop what uses it, or choose another with SAMPLE_PORT.`,
  );
  await other.close();
});

it.each([
  ['192.0.2.1', 'The address 192.0.2.1 does not exist on this machine. Choose another with SAMPLE_HOST.'],
  [
    'no-such-host.invalid',
    /^The name no-such-host\.invalid leads to no address \(E\w+\)\. .* SAMPLE_HOST\.$/,
  ],
])('names the setting of the host for %s', async (host, message) => {
  const other = await emptyApp();
  await expect(listen(other, { ...at, host }, '/')).rejects.toThrow(message);
  await other.close();
});

it('finishes a request in flight when it closes, and takes no new one', async () => {
  const address = await listen(sample.app, at, '/busy');
  const inFlight = fetch(`${address}/busy`);
  await sleep(30);
  await closeGracefully(sample.app, 5_000);
  expect(await (await inFlight).json()).toEqual({ done: true });
  await expect(fetch(`${address}/busy`)).rejects.toThrow('fetch failed');
});

it.each(['known', 'chunked'])(
  'answers a body of %s length that is too large, while it is still being sent',
  async (kind) => {
    const { port } = new URL(await listen(sample.app, at, '/busy'));
    const size = 30_000_000;
    for (let round = 0; round < 5; round++) {
      const headers = kind === 'known' ? { 'content-length': size } : { 'transfer-encoding': 'chunked' };
      const sent = request({ port, method: 'POST', path: '/things', headers });
      const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
      sent.end(Buffer.alloc(size, ' '));
      const [answer] = await answered;
      answer.resume();
      expect(answer.statusCode).toBe(413);
      await once(answer, 'close');
    }
  },
);

it('takes a token of 800,000 bytes, and no endless one', async () => {
  const address = await listen(sample.app, at, '/busy');
  const ask = async (bytes: number) =>
    (await fetch(`${address}/busy`, { headers: { authorization: `Bearer ${'a'.repeat(bytes)}` } })).status;
  expect(await ask(800_000)).toBe(200);
  expect(await ask(1_100_000)).toBe(431);
});

it.each([
  ['no request at all', 'hello\r\n\r\n', 400, 'this is no request of HTTP: Invalid method encountered'],
  [
    'a header without a colon',
    'GET /busy HTTP/1.1\r\nbad header\r\n\r\n',
    400,
    'this is no request of HTTP: ',
  ],
  [
    'a body of two lengths',
    'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}',
    400,
    'this is no request of HTTP: ',
  ],
  [
    'headers without an end',
    // Most of it is on its way yet when the answer is.
    `GET /busy HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000_000)}`,
    431,
    'the headers are too large',
  ],
])('answers %s in the dialect, and hangs up', async (_what, sent, status, message) => {
  const { port } = new URL(await listen(sample.app, at, '/busy'));
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(sent);
  let text = '';
  for await (const piece of socket) text += piece;
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\ncontent-length: ${body.length}\r\n`, 's'));
  expect(JSON.parse(body)).toMatchObject({
    code: 'unreadable',
    message: expect.stringMatching(new RegExp(`^${message}`)),
  });
  // Besides the first one, which is the server's own.
  expect(sample.lines.slice(1)).toEqual([]);
});

const GET_BUSY = 'GET /busy HTTP/1.1\r\nhost: a\r\n\r\n';

/** Sends what is no request behind one or in one, and says what comes back until the connection ends. */
async function converse(sent: string, afterwards?: { upon: string; send: string }): Promise<string> {
  const address = await listen(sample.app, at, '/busy');
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(sent);
  let text = '';
  let left = afterwards;
  socket.on('data', (piece: Buffer) => {
    text += piece.toString();
    if (left === undefined || !text.includes(left.upon)) return;
    socket.write(left.send);
    left = undefined;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  // It serves on, and calls nothing of it an error.
  expect((await fetch(`${address}/busy`)).status).toBe(200);
  expect(sample.lines.filter(({ message }) => message !== 'request')).toEqual([]);
  return text;
}
const statuses = (text: string) => text.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(9)));

it.each([1, 3])('answers what is no request behind %i in flight, which are answered first', async (many) => {
  const text = await converse(`${GET_BUSY.repeat(many)}hello\r\n\r\n`);
  expect(statuses(text)).toEqual([...Array(many).fill(200), 400]);
  expect(text.match(/{"done":true}/g)).toHaveLength(many);
});

it('answers a body that cannot be read in place of its request, behind those before it', async () => {
  const chunked = 'POST /things HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n';
  expect(statuses(await converse(`${GET_BUSY}${chunked}hello\r\n`))).toEqual([200, 400]);
});

it('writes nothing into an answer that has begun, and hangs up', async () => {
  const begun = 'GET /stream HTTP/1.1\r\nhost: a\r\n\r\n';
  const text = await converse(begun, { upon: 'begun', send: 'hello\r\n\r\n' });
  expect(statuses(text)).toEqual([200]);
  expect(text).toMatch(/\r\n\r\n5\r\nbegun\r\n$/);
});

it('calls it no error when a client hangs up in the middle of a body', async () => {
  const { port } = new URL(await listen(sample.app, at, '/busy'));
  const sent = request({ port, method: 'POST', path: '/things', headers: { 'content-length': 900 } });
  sent.on('error', () => {});
  sent.write('{"name":"');
  await vi.waitFor(() => expect(sent.socket?.bytesWritten).toBeGreaterThan(0));
  await sleep(50);
  sent.destroy();
  await sleep(200);
  expect(sample.lines.filter(({ message }) => message !== 'request')).toEqual([]);
});

it.each([
  ['body', 'POST /things HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nffffffffff\r\n'],
  ['line of headers', 'GET /busy HTTP/1.1\r\nhost: a\r\nx: '],
])('hangs up on a %s that never ends', async (_what, beginning) => {
  const { port } = new URL(await listen(sample.app, at, '/busy'));
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {}).resume();
  const gone = new Promise((resolve) => socket.once('close', resolve));
  socket.write(beginning);
  const flood = setInterval(() => socket.write(Buffer.alloc(4_000_000, 'a')), 5);
  await gone;
  clearInterval(flood);
});

it('ends the connection of a request that was answered and goes on coming', {
  timeout: 150_000,
}, async () => {
  const { port } = new URL(await listen(sample.app, at, '/busy'));
  const dribble = async (path: string) => {
    const socket = connect(Number(port));
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.on('error', () => {});
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n`,
    );
    const bytes = setInterval(() => socket.write(' '), 100);
    // It may see a reset, which is an end as well.
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(bytes);
    return received.split('\r\n')[0];
  };
  expect(await Promise.all(['/closed', '/things'].map(dribble))).toEqual([
    'HTTP/1.1 401 Unauthorized',
    'HTTP/1.1 504 Gateway Timeout',
  ]);
});

it('ends the connection of a client that does not take its answer, and of nobody who takes it slowly', {
  timeout: 150_000,
}, async () => {
  const idleTimeoutMs = 3_000;
  await using patient = await emptyApp({ idleTimeoutMs });
  const large = 'x'.repeat(64 * 1024 * 1024); // more than the system takes off our hands
  patient.get('/large', () => large);
  patient.get('/', () => ({}));
  const port = Number(new URL(await listen(patient, at, '/')).port);
  const closes: Promise<unknown>[] = [];
  patient.server.on('connection', (socket) => closes.push(once(socket, 'close')));

  const asleep = connect(port);
  asleep.on('error', () => {});
  asleep.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n');
  await vi.waitFor(() => expect(closes).toHaveLength(1));
  await closes[0];
  asleep.destroy();

  const slow = connect(port);
  slow.write('GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  let received = 0;
  for await (const chunk of slow as AsyncIterable<Buffer>) {
    if (Math.floor(received / 8e6) < Math.floor((received + chunk.length) / 8e6)) await sleep(100);
    received += chunk.length;
  }
  expect(received).toBeGreaterThan(large.length);
});

it('cuts what is left after the grace time', async () => {
  const address = new URL(await listen(sample.app, at, '/busy'));
  const idler = connect(Number(address.port), address.hostname);
  await once(idler, 'connect');
  idler.write('POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{');
  await sleep(20);
  const started = performance.now();
  await Promise.all([closeGracefully(sample.app, 100), once(idler, 'close')]);
  expect(performance.now() - started).toBeGreaterThan(80);
});
