/** A row of GoTrue's: values as JSON has them, or as `COPY` writes them. */
export type SourceRow = Readonly<Record<string, unknown>>;

/** A text; the empty one says as much as none, as GoTrue has both. */
export function textOf(row: SourceRow, name: string): string | null {
  const value = row[name];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A whole number, 0 for none. */
export function numberOf(row: SourceRow, name: string): number {
  const value = Number(row[name] ?? 0);
  return Number.isSafeInteger(value) ? value : 0;
}

/** A truth value; none is false. */
export function flagOf(row: SourceRow, name: string): boolean {
  return row[name] === true || row[name] === 't';
}

const ZONE = /([+-]\d\d(:?\d\d){0,2}|Z|infinity)$/;
/** What a program in Go writes that has no time. */
const NO_TIME = /^0001-01-01/;

/** A time, for PostgreSQL to read. Columns without a zone mean UTC. */
export function timeOf(row: SourceRow, name: string): string | null {
  const value = textOf(row, name);
  if (value === null || NO_TIME.test(value)) return null;
  return ZONE.test(value) ? value : `${value}+00`;
}

/** An object; what is none, such as `null` written as JSON, is an empty one. */
export function objectOf(row: SourceRow, name: string): Record<string, unknown> {
  const value = row[name];
  const parsed: unknown = typeof value === 'string' ? JSON.parse(value) : value;
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  return isObject ? (parsed as Record<string, unknown>) : {};
}

/** Whether GoTrue encrypted the value with a key that is not in the database. */
export function isEncrypted(value: string | null): boolean {
  return value?.startsWith('{') === true;
}
