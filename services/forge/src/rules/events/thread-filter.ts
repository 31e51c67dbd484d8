import { badRequest, unacceptable } from '../../failures.ts';
import { readId } from '../requests/read-id.ts';

const STATUSES = ['unread', 'read', 'pinned'] as const;

/** What a thread is to its owner. */
export type ThreadStatus = (typeof STATUSES)[number];

/** The statuses a list shows: those that are named, else everything or what is not read. */
export function readStatuses(
  query: { all?: string | undefined; statusTypes: readonly string[] },
  fallback: readonly ThreadStatus[] = ['unread', 'pinned'],
): ThreadStatus[] {
  const named = query.statusTypes.flatMap((text) => text.split(',')).map((text) => text.trim().toLowerCase());
  const known = STATUSES.filter((status) => named.includes(status));
  if (known.length > 0) return known;
  return query.all === 'true' || query.all === '1' ? [...STATUSES] : [...fallback];
}

/** What kinds of subjects a list shows; all when none is named that exists here. */
export function readKinds(subjectTypes: readonly string[]): ('issue' | 'pull')[] {
  const named = subjectTypes.flatMap((text) => text.split(',')).map((text) => text.trim().toLowerCase());
  const wanted = named.filter((name) => name !== '');
  if (wanted.length === 0) return ['issue', 'pull'];
  return (['issue', 'pull'] as const).filter((kind) => wanted.includes(kind));
}

/** @throws 422 for a status that does not exist; none is `read` */
export function readNewStatus(text: string | undefined): ThreadStatus {
  const wanted = (text ?? '').toLowerCase() || 'read';
  const known = STATUSES.find((status) => status === wanted);
  if (known === undefined) throw unacceptable(`${wanted} is not a notification status`);
  return known;
}

/**
 * The number of a thread in a path.
 * @throws 400 for what is no number
 */
export function readThreadId(text: string): number {
  const id = readId(text);
  if (id === 0) throw badRequest(`${text} is not a number`);
  return id;
}
