import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { accessTo } from '../repositories/find-repository.ts';
import { presentRepositories } from '../repositories/present-repositories.ts';
import type { ThreadRow } from '../store/events/notifications.ts';
import { threadJson, type threadSchema } from './thread-json.ts';

/** Threads as their owner gets them. */
export async function presentThreads(
  context: Context,
  caller: Caller,
  rows: readonly ThreadRow[],
): Promise<z.output<typeof threadSchema>[]> {
  const visible = rows.flatMap((row) => {
    const found = accessTo(row.repository, caller);
    return found === undefined ? [] : [{ row, found }];
  });
  const repositories = await presentRepositories(
    context,
    caller,
    visible.map(({ found }) => found),
  );
  return visible.flatMap(({ row }, index) => {
    const repository = repositories[index];
    return repository === undefined ? [] : [threadJson(row, repository, context.links)];
  });
}
