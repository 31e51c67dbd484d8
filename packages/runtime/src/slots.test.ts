import { describe, expect, it } from 'vitest';
import { Slots } from './slots.ts';

/** Lets everything that can go on do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('slots', () => {
  it('nobody holds more than half of them, whoever asks first', async () => {
    const slots = new Slots({ slots: 4 });
    const order: string[] = [];
    const ask = (share: string) => {
      const slot = slots.take(share);
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
    const refuse = () => new Error('busy');
    const slots = new Slots({ slots: 2, line: { places: 16, refuse } });
    await slots.take('greedy');
    const rest = Array.from({ length: 20 }, () =>
      slots.take('greedy').then(
        () => 'slot',
        () => 'busy',
      ),
    );
    await settle();
    const refused = await Promise.race([Promise.all(rest.slice(8)), settle().then(() => 'waiting')]);
    expect(refused).toEqual(rest.slice(8).map(() => 'busy'));
    await expect(slots.take('other')).resolves.toBeTypeOf('function');
  });

  it('a single one is for everybody in turn', async () => {
    const slots = new Slots({ slots: 1 });
    const giveBack = await slots.take('one');
    const next = slots.take('two');
    giveBack();
    (await next)();
    await expect(slots.take('one')).resolves.toBeTypeOf('function');
  });

  it("whoever waited long enough is told, and the next slot is somebody else's", async () => {
    const slots = new Slots({ slots: 1, patienceMs: 20 });
    const giveBack = await slots.take('one');
    await expect(slots.take('two')).rejects.toThrow('nobody gave a slot back in time');
    const next = slots.take('three');
    giveBack();
    await expect(next).resolves.toBeTypeOf('function');
  });
});
