import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

const never = new AbortController().signal;

it('runs one at a time per key, in the order asked', async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} begins`);
    await sleep(5);
    seen.push(`${name} ends`);
  };
  await Promise.all(['a', 'b', 'c'].map((name) => turns.take('machine', name, never, work(name))));
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  expect(turns.list()).toEqual([]);
});

it('keys do not wait for each other', async () => {
  const turns = new Turns();
  const held = Promise.withResolvers<void>();
  const one = turns.take('one', 'save', never, () => held.promise);
  expect(await turns.take('two', 'save', never, async () => 'done')).toBe('done');
  held.resolve();
  await one;
});

it('a failure passes the turn on', async () => {
  const turns = new Turns();
  const failing = turns.take('k', 'a', never, () => Promise.reject(new Error('broken')));
  const next = turns.take('k', 'b', never, async () => 'fine');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('fine');
});

it('who stops waiting loses the place and holds nobody up', async () => {
  const turns = new Turns();
  const held = Promise.withResolvers<void>();
  const first = turns.take('k', 'a', never, () => held.promise);
  const impatient = new AbortController();
  let ran = false;
  const second = turns.take('k', 'b', impatient.signal, async () => {
    ran = true;
  });
  const third = turns.take('k', 'c', never, async () => 'third');
  expect(turns.list()).toEqual([{ key: 'k', running: 'a', waiting: 2 }]);
  impatient.abort(new Error('gone'));
  await expect(second).rejects.toThrow('gone');
  held.resolve();
  await first;
  expect(await third).toBe('third');
  expect(ran).toBe(false);
});

it('refuses the hundred and first who waits', async () => {
  const turns = new Turns();
  const held = Promise.withResolvers<void>();
  const all = Array.from({ length: 101 }, () => turns.take('k', 'a', never, () => held.promise));
  await expect(turns.take('k', 'b', never, async () => {})).rejects.toThrow('too many calls wait');
  held.resolve();
  await Promise.all(all);
});

it('takes the turns of several keys in one order, whatever order they are asked in', async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    const keys = () =>
      turns
        .list()
        .map(({ key }) => key)
        .join();
    seen.push(`${name} has ${keys()}`);
    await sleep(5);
    seen.push(`${name} ends`);
  };
  await Promise.all([
    turns.takeAll(['b', 'a', 'b'], 'one', never, work('one')),
    turns.takeAll(['a', 'b'], 'two', never, work('two')),
    turns.take('b', 'three', never, work('three')),
  ]);
  expect(seen.toSorted()).toEqual(
    ['one has a,b', 'one ends', 'two has a,b', 'two ends', 'three has a,b', 'three ends'].toSorted(),
  );
  expect(seen.filter((_, at) => at % 2 === 1).every((line) => line.endsWith('ends'))).toBe(true);
  expect(turns.list()).toEqual([]);
});
