import type { Tx } from '@croft/sql';
import { expect, vi } from 'vitest';
import type { Answer, Subject } from '../harness.ts';

/** Waits until so many statements wait for locks. */
export async function waiting(subject: Subject, count: number): Promise<void> {
  await vi.waitFor(async () => {
    const found = await subject.rows.autocommit().row`
      select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    expect(found).toEqual({ count });
  }, 30_000);
}

/** Does the work while another transaction holds the locks it took; what the work returns is waited for once they are free. */
export async function whileLocked<T>(
  subject: Subject,
  lock: (tx: Tx) => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const released = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holder = subject.rows.transaction(async (tx) => {
    await lock(tx);
    locked.resolve();
    await released.promise;
  });
  holder.catch(locked.reject);
  try {
    await locked.promise;
    return await work();
  } finally {
    released.resolve();
    await holder;
  }
}

/** Starts both while a user's row is held, so that each has checked everything before the first may go on. */
export async function meet(
  subject: Subject,
  userId: string,
  one: () => Promise<Answer>,
  other: () => Promise<Answer>,
): Promise<{ first: Answer; second: Answer }> {
  const answers: Promise<Answer>[] = [];
  await whileLocked(
    subject,
    (tx) => tx.row`select id from :schema.users where id = ${userId} for update`,
    async () => {
      answers.push(one());
      await waiting(subject, 1);
      answers.push(other());
      await waiting(subject, 2);
    },
  );
  const [first, second] = await Promise.all(answers);
  if (first === undefined || second === undefined) throw new Error('there were two');
  return { first, second };
}
