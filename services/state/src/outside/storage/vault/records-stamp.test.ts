import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/daemon.ts';
import { RecordsStamp } from './records-stamp.ts';

it('no record is replaced while all of them are listed', async () => {
  const stamp = new RecordsStamp(temporaryFolder());
  const order: string[] = [];
  const reading = stamp.still(async () => {
    await sleep(20);
    order.push('read');
  });
  await stamp.writing(async () => void order.push('written'));
  await reading;
  expect(order).toEqual(['read', 'written']);
});
