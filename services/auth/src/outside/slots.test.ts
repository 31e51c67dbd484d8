import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createSlots } from './slots.ts';

const refuse = (waitMs: number): Error => new Error(`full: ${waitMs}`);

describe('slots', () => {
  test('never run more at once than there are, and run all', async () => {
    const slots = createSlots(2, 60_000);
    let running = 0;
    let most = 0;
    let done = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await sleep(1);
      running--;
      done++;
    };
    await Promise.all(Array.from({ length: 20 }, () => slots.run(work, refuse)));
    expect({ most, done, running }).toEqual({ most: 2, done: 20, running: 0 });
  });

  test('refuse what would wait too long, and take more when the queue is shorter', async () => {
    const slots = createSlots(1, 100); // a first guess of 30 ms leaves three places
    const ended = await Promise.allSettled(
      Array.from({ length: 10 }, () => slots.run(() => sleep(20), refuse)),
    );
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    await expect(slots.run(async () => 'again', refuse)).resolves.toBe('again');
  });

  test('heavy work counts for what it is: the queue is bounded by time, not by places', async () => {
    const slots = createSlots(1, 100); // a first guess of 30 ms for weight 1: one of weight 6 is more than enough
    const ended = await Promise.allSettled([
      slots.run(() => sleep(20), refuse, 6),
      slots.run(() => sleep(20), refuse),
    ]);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(ended[1]).toMatchObject({ reason: { message: 'full: 180' } });
  });

  test('heavy work does not make light work look slow', async () => {
    const slots = createSlots(1, 100);
    for (let round = 0; round < 20; round++) await slots.run(() => sleep(60), refuse, 6); // 10 ms a unit
    const ended = await Promise.allSettled(
      Array.from({ length: 30 }, () => slots.run(() => sleep(10), refuse)),
    );
    const taken = ended.filter(({ status }) => status === 'fulfilled').length;
    // Some ten where timers are exact, fewer on a busy machine; by the mean of 60 ms it would be two.
    expect(taken).toBeGreaterThanOrEqual(3);
    expect(taken).toBeLessThanOrEqual(12);
  });

  test('a failure frees its slot', async () => {
    const slots = createSlots(1, 60_000);
    await expect(slots.run(() => Promise.reject(new Error('broken')), refuse)).rejects.toThrow('broken');
    await expect(slots.run(async () => 'next', refuse)).resolves.toBe('next');
  });
});
