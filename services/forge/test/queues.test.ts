import { describe, expect, it } from 'vitest';
import { Queues } from '../src/queues.ts';

/** Lets everything that can go on do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('slots', () => {
  it('nobody holds more than half of them, whoever asks first', async () => {
    const queues = new Queues(4);
    const order: string[] = [];
    const ask = (share: string) => {
      const slot = queues.takeSlot(share);
      void slot.then(() => order.push(share));
      return slot;
    };
    const [first] = await Promise.all([ask('greedy'), ask('greedy')]);
    const third = ask('greedy');
    await settle();
    expect(order).toEqual(['greedy', 'greedy']);
    // Two slots are free, and somebody else gets them at once.
    const others = await Promise.all([ask('one'), ask('two')]);
    expect(order).toEqual(['greedy', 'greedy', 'one', 'two']);
    const waiting = ask('three');
    // What others give back goes past the greedy one, who waits for his own.
    others[0]?.();
    await waiting;
    expect(order.at(-1)).toBe('three');
    first?.();
    first?.();
    await third;
    expect(order.at(-1)).toBe('greedy');
  });

  it('nor more than half of the places in the line', async () => {
    const queues = new Queues(2);
    await queues.takeSlot('greedy');
    const rest = Array.from({ length: 20 }, () =>
      queues.takeSlot('greedy').then(
        () => 'slot',
        () => 'busy',
      ),
    );
    await settle();
    const refused = await Promise.race([Promise.all(rest.slice(8)), settle().then(() => 'waiting')]);
    expect(refused).toEqual(rest.slice(8).map(() => 'busy'));
    await expect(queues.takeSlot('other')).resolves.toBeTypeOf('function');
  });

  it('a single one is for everybody in turn', async () => {
    const queues = new Queues(1);
    const giveBack = await queues.takeSlot('one');
    const next = queues.takeSlot('two');
    giveBack();
    (await next)();
    await expect(queues.takeSlot('one')).resolves.toBeTypeOf('function');
  });
});
