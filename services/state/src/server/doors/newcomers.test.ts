import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { addressOf, Newcomers } from './newcomers.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A server that takes note of its connections, and a way to make one. */
async function listen() {
  const newcomers = new Newcomers();
  const server = createServer((socket) => newcomers.arrive(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const arrive = async (): Promise<{ near: Socket; far: Socket }> => {
    const far = connect(port, '127.0.0.1').on('error', () => {});
    const [near] = (await once(server, 'connection')) as [Socket];
    onTestFinished(() => void near.destroy());
    return { near, far };
  };
  return { newcomers, arrive };
}

it('whoever does not show in time who he is, is closed, and nobody else', async () => {
  const { newcomers, arrive } = await listen();
  const [unknown, known] = [await arrive(), await arrive()];
  newcomers.leave(addressOf(known.near));
  vi.advanceTimersByTime(29_000);
  expect(unknown.near.destroyed).toBe(false);
  vi.advanceTimersByTime(1000);
  expect([unknown.near.destroyed, known.near.destroyed]).toEqual([true, false]);
});

it('of too many the one that is longest there goes', async () => {
  const { newcomers, arrive } = await listen();
  const first = await arrive();
  newcomers.leave(addressOf(first.near));
  const rest: Socket[] = [];
  for (let at = 0; at < 70; at++) rest.push((await arrive()).near);
  expect(rest.map(({ destroyed }) => destroyed)).toEqual([...Array(6).fill(true), ...Array(64).fill(false)]);
  expect(first.near.destroyed).toBe(false);
});
