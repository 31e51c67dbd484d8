import { describe, expect, it } from 'vitest';
import { Slots } from './slots.ts';

/** Lets everything that can go on do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

const line = { places: 16, refuse: () => new Error('busy') };

describe('slots', () => {
  it('nobody holds more than half of them, whoever asks first', async () => {
    const slots = new Slots({ slots: 4, line });
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
    const giveBack = await waiting;
    expect(order.at(-1)).toBe('three');
    first?.();
    first?.();
    await settle();
    // The last one is for whoever has none.
    expect(order.at(-1)).toBe('three');
    giveBack();
    await third;
    expect(order.at(-1)).toBe('greedy');
  });

  it('nor more than half of the places in the line', async () => {
    const slots = new Slots({ slots: 2, line });
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
    const slots = new Slots({ slots: 1, line });
    const giveBack = await slots.take('one');
    const next = slots.take('two');
    giveBack();
    (await next)();
    await expect(slots.take('one')).resolves.toBeTypeOf('function');
  });

  it("whoever waited long enough is told, and the next slot is somebody else's", async () => {
    const slots = new Slots({ slots: 1, line: { ...line, patienceMs: 20 } });
    const giveBack = await slots.take('one');
    await expect(slots.take('two')).rejects.toThrow('busy');
    const next = slots.take('three');
    giveBack();
    await expect(next).resolves.toBeTypeOf('function');
  });

  it('a quarter is for those who have none, and what is given back for who has the fewest', async () => {
    const slots = new Slots({ slots: 8, line: { ...line, places: 100 } });
    const held: [string, () => void][] = [];
    const ask = (share: string) => void slots.take(share).then((giveBack) => held.push([share, giveBack]));
    // Two who want everything have three quarters of it, and whoever comes gets one at once.
    for (let n = 0; n < 20; n++) for (const greedy of ['one', 'two']) ask(greedy);
    await settle();
    expect(held).toHaveLength(6);
    for (const late of ['three', 'four', 'five']) ask(late);
    await settle();
    expect(held.slice(6).map(([share]) => share)).toEqual(['three', 'four']);
    held[0]?.[1]();
    await settle();
    expect(held.at(-1)?.[0]).toBe('five');
  });
});
