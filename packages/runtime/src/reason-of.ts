/**
 * Why something failed, in a line for a log or a person. What Node says of a name with several addresses has no words of its own,
 * only a code and the failure of each.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  const each = error instanceof AggregateError ? error.errors.map(reasonOf).join('; ') : '';
  return error.message || each || code || error.name;
}
