/**
 * An object with the names of its members, and of all objects in it, in the order PostgreSQL's jsonb keeps them:
 * shorter ones first, those of one length by their bytes. What was never stored looks like what was.
 */
export function inOrderOfJsonb(object: object): Record<string, unknown> {
  const members = Object.entries(object).map(([name, value]) => ({ name, bytes: Buffer.from(name), value }));
  members.sort((a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes));
  return Object.fromEntries(members.map(({ name, value }) => [name, ordered(value)]));
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  return typeof value === 'object' && value !== null ? inOrderOfJsonb(value) : value;
}
