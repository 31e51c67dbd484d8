import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { Stream } from './stream.ts';

/** A call as a stream of Node, which is what it is, and what has come out of it. */
function wire() {
  const sent: unknown[] = [];
  const call = new Writable({
    objectMode: true,
    write(message: { log: string }, _encoding, done) {
      sent.push(message.log);
      done();
    },
  });
  return { stream: new Stream(call as unknown as ServerWritableStream<unknown, unknown>), call, sent };
}

const NEVER = new AbortController().signal;

it('loses no line, whenever it is said', async () => {
  for (let turns = 0; turns < 30; turns++) {
    const { stream, call, sent } = wire();
    stream.line('first');
    await new Promise<void>((resolve) => process.nextTick(resolve));
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    stream.line('second');
    await stream.finish([{ log: 'result' }], NEVER);
    call.end();
    await new Promise((resolve) => call.once('finish', resolve));
    expect([turns, sent]).toEqual([turns, ['first', 'second', 'result']]);
  }
});

it('sends thousands in their order', async () => {
  const { stream, call, sent } = wire();
  const lines = Array.from({ length: 9000 }, (_, at) => `line ${at}`);
  for (const line of lines) stream.line(line);
  await stream.finish([], NEVER);
  call.end();
  await new Promise((resolve) => call.once('finish', resolve));
  expect(sent).toEqual(lines);
});

it.each([
  [
    'lines',
    (stream: Stream, texts: string[]) => {
      for (const text of texts) stream.line(text);
      return stream.finish([], NEVER);
    },
  ],
  [
    'results',
    (stream: Stream, texts: string[]) =>
      stream.finish(
        texts.map((result) => ({ result })),
        NEVER,
      ),
  ],
])('hands on together what waits of its %s: some hundred lines, never two results', async (what, send) => {
  const isLines = what === 'lines';
  let [under, most, turns] = [0, 0, 0];
  const call = new Writable({
    objectMode: true,
    write(_message, _encoding, done) {
      most = Math.max(most, ++under);
      if (under === 1) turns++;
      setImmediate(() => {
        under--;
        done();
      });
    },
  });
  const stream = new Stream(call as unknown as ServerWritableStream<unknown, unknown>);
  await send(
    stream,
    Array.from({ length: 9000 }, (_none, at) => `text ${at}`),
  );
  call.end();
  await new Promise((resolve) => call.once('finish', resolve));
  expect(turns).toBeLessThan(isLines ? 100 : 9001);
  expect(most).toBeLessThan(isLines ? 400 : 2);
});

it('waits at the end of a failed call as long as the client takes something, however slowly', async () => {
  const sent: string[] = [];
  let last = Promise.resolve();
  const call = new Writable({
    objectMode: true,
    write(message: { log: string }, _encoding, done) {
      last = last.then(async () => {
        await sleep(16);
        sent.push(message.log);
        done();
      });
    },
  });
  const stream = new Stream(call as unknown as ServerWritableStream<unknown, unknown>);
  const lines = Array.from({ length: 300 }, (_, at) => `line ${at}`);
  for (const line of lines) stream.line(line);
  await stream.flush();
  call.end();
  await new Promise((resolve) => call.once('finish', resolve));
  expect(sent).toEqual(lines);
});
