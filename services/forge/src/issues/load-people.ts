import type { Context } from '../context.ts';
import * as users from '../store/people/users.ts';

/** The accounts that stand around some issues. */
export interface People {
  /** The ghost for somebody who is gone. */
  byId(id: number | null): users.UserRow;
}

/**
 * Loads the accounts that answers name: one statement, however many, and none when all are known already.
 * @param known accounts the caller has at hand
 */
export async function loadPeople(
  { database }: Context,
  ids: readonly (number | null)[],
  known: readonly users.UserRow[] = [],
): Promise<People> {
  const accounts = new Map(known.map((user) => [user.id, user]));
  const unknown = new Set(ids.filter((id) => id !== null && !accounts.has(id)));
  if (unknown.size > 0) {
    const loaded = await users.mapByIds(
      database.reads(),
      [...unknown].filter((id) => id !== null),
    );
    for (const [id, user] of loaded) accounts.set(id, user);
  }
  return { byId: (id) => (id !== null && accounts.get(id)) || users.GHOST };
}
