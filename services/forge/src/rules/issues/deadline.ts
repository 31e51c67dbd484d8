/**
 * The moment a deadline is stored as: 23:59:59 of the day the supplied value names, in its own zone; only the date
 * matters. Undefined for Go's zero time, which clients send for "none".
 * @param text RFC 3339, as validated
 */
export function deadlineOf(text: string): Date | undefined {
  const [, date, zone = 'Z'] = /^(\d{4}-\d{2}-\d{2})T.*?(Z|[+-]\d{2}:?\d{2})?$/i.exec(text) ?? [];
  if (date === undefined) throw new Error(`not a time: ${text}`);
  return date.startsWith('0001-01-01') ? undefined : new Date(`${date}T23:59:59${zone}`);
}

/** What an edit does to a deadline: null removes it, undefined leaves it alone. */
export function decideDeadline(wanted: {
  deadline?: string | null | undefined;
  removeDeadline?: boolean | null | undefined;
}): Date | null | undefined {
  if (wanted.removeDeadline === true) return null;
  if (wanted.deadline === undefined || wanted.deadline === null) return undefined;
  return deadlineOf(wanted.deadline) ?? null;
}

/** How the timeline tells of another deadline: the dates, a new one before the old one as in the reference. */
export function describeDeadline(
  before: Date | null,
  after: Date | null,
): { kind: 'added_deadline' | 'modified_deadline' | 'removed_deadline'; body: string } | undefined {
  const dateOf = (time: Date) => time.toISOString().slice(0, 10);
  if (before?.getTime() === after?.getTime()) return undefined;
  if (before === null) return after === null ? undefined : { kind: 'added_deadline', body: dateOf(after) };
  if (after === null) return { kind: 'removed_deadline', body: dateOf(before) };
  return { kind: 'modified_deadline', body: `${dateOf(after)}|${dateOf(before)}` };
}
