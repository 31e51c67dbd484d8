import { isUuid } from '../caller/verify-bearer.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { Person } from '../rows.ts';
import { listAfter, type UserCursor } from '../store/user-search.ts';

/** Users behind a cursor, and where the list goes on. */
export interface UsersAfter {
  people: Person[];
  nextCursor: string | undefined;
}

/**
 * Users behind a cursor, newest first; fewer than the limit where they are too much to be in memory at once. Nobody is left
 * out or shown twice because somebody signs up meanwhile.
 * @param cursor empty for the first ones
 * @throws Failure `validation_failed` for what is no cursor of ours
 */
export async function listUsersAfter(
  context: AuthContext,
  cursor: string,
  limit: number,
): Promise<UsersAfter> {
  const tx = context.database.autocommit();
  // One more tells whether there are more.
  const { people, isWhole } = await listAfter(tx, cursor === '' ? undefined : readCursor(cursor), limit + 1);
  const shown = people.slice(0, limit);
  const last = people.length > limit || !isWhole ? shown.at(-1) : undefined;
  return { people: shown, nextCursor: last && writeCursor(last.user) };
}

function writeCursor({ created_at: createdAt, id }: { created_at: string; id: string }): string {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url');
}

function readCursor(text: string): UserCursor {
  const [createdAt = '', id = '', ...more] = Buffer.from(text, 'base64url').toString('latin1').split(' ');
  if (!isTime(createdAt) || !isUuid(id) || more.length > 0) throw failures.badCursor();
  return { createdAt, id };
}

/** Whether the database takes it for a time: there is no year 0, and no 30 February. */
function isTime(text: string): boolean {
  if (!/^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00$/.test(text)) return false;
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 10));
}
