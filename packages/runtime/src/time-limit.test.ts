import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { assertInTime, withinTime } from './time-limit.ts';

test('work goes on while there is time, and begins nothing afterwards', async () => {
  const limit = { over: false };
  const done: string[] = [];
  const work = withinTime(limit, async () => {
    assertInTime();
    done.push('first');
    await sleep(20);
    assertInTime();
    done.push('second');
  });
  limit.over = true;
  await expect(work).rejects.toThrow('the time for this request is over');
  expect(done).toEqual(['first']);
});

test('what nobody limits has all the time', () => {
  withinTime({ over: true }, () => expect(assertInTime).toThrow());
  expect(assertInTime).not.toThrow();
});
