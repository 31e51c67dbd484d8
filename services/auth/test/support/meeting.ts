import type { Tx } from '@croft/sql';
import { expect, vi } from 'vitest';
import type { Answer, Subject } from '../harness.ts';

/** Waits until so many statements wait for locks. */
export async function waiting(subject: Subject, count: number): Promise<void> {
  await vi.waitFor(async () => {
    const found = await subject.rows.autocommit().row`
      select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    expect(found).toEqual({ count });
  }, 5000);
}

/** Starts both while a user's row is held, so that each has checked everything before the first may go on. */
export async function meet(
  subject: Subject,
  userId: string,
  one: () => Promise<Answer>,
  other: () => Promise<Answer>,
): Promise<{ first: Answer; second: Answer }> {
  const held = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const holder = subject.rows.transaction(async (tx: Tx) => {
    await tx.row`select id from :schema.users where id = ${userId} for update`;
    started.resolve();
    await held.promise;
  });
  await started.promise;
  const answers: Promise<Answer>[] = [];
  try {
    answers.push(one());
    await waiting(subject, 1);
    answers.push(other());
    await waiting(subject, 2);
  } finally {
    held.resolve();
    await holder;
  }
  const [first, second] = await Promise.all(answers);
  if (first === undefined || second === undefined) throw new Error('there were two');
  return { first, second };
}
