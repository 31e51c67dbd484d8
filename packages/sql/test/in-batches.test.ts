import { describe, expect, it } from 'vitest';
import { inBatches } from '../src/index.ts';

describe('inBatches', () => {
  it('makes one call of those that come together, at most so many, and answers each its own', async () => {
    const calls: number[][] = [];
    const double = inBatches({ most: 3 }, async (inputs: readonly number[]) => {
      calls.push([...inputs]);
      return inputs.map((one) => one * 2);
    });
    expect(await Promise.all([1, 2, 3, 4].map(double))).toEqual([2, 4, 6, 8]);
    expect(await double(5)).toBe(10);
    expect(calls).toEqual([[1, 2, 3], [4], [5]]);
  });

  it('gathers what comes while a call is under way', async () => {
    const calls: number[][] = [];
    const gate = Promise.withResolvers<void>();
    const same = inBatches({ most: 10 }, async (inputs: readonly number[]) => {
      calls.push([...inputs]);
      if (calls.length === 1) await gate.promise;
      return inputs;
    });
    const first = same(1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const others = [same(2), same(3)];
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(calls).toEqual([[1]]);
    gate.resolve();
    expect(await Promise.all([first, ...others])).toEqual([1, 2, 3]);
    expect(calls).toEqual([[1], [2, 3]]);
  });

  it('fails only for what cannot be done, and goes on', async () => {
    const done: number[] = [];
    const picky = inBatches({ most: 10 }, async (inputs: readonly number[]) => {
      if (inputs.includes(2)) throw new Error('not two');
      done.push(...inputs);
      return inputs;
    });
    const results = await Promise.allSettled([1, 2, 3].map(picky));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { message: 'not two' } });
    expect(await picky(4)).toBe(4);
    expect(done).toEqual([1, 3, 4]);
  });
});
