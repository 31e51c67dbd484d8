/**
 * The texts of a query or a form; of several with one name the first counts. Halves of characters become what Go's decoder makes of
 * them, and what has a NUL in it, which PostgreSQL cannot keep, is left out.
 */
export function textsOf(fields: unknown): Record<string, string> {
  if (typeof fields !== 'object' || fields === null) return {};
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const first: unknown = Array.isArray(value) ? value[0] : value;
      return typeof first === 'string' && !first.includes('\0') ? [[name, first.toWellFormed()]] : [];
    }),
  );
}
