/**
 * How many bytes a JSON value has as the database spells it: with a space behind each comma and colon, and without
 * exponents, which makes up to three times as much of what a client sent.
 */
export function jsonbBytes(value: unknown): number {
  if (typeof value === 'number') return numberBytes(JSON.stringify(value));
  if (typeof value !== 'object' || value === null) return Buffer.byteLength(JSON.stringify(value));
  if (Array.isArray(value)) return listBytes(value.map(jsonbBytes));
  return listBytes(Object.entries(value).map(([name, item]) => jsonbBytes(name) + 2 + jsonbBytes(item)));
}

const listBytes = (items: readonly number[]): number =>
  2 + items.reduce((sum, bytes) => sum + bytes, 0) + 2 * Math.max(0, items.length - 1);

function numberBytes(text: string): number {
  const [mantissa = '', exponent] = text.split('e-');
  if (exponent === undefined) return text.length;
  // -1.5e-7 is -0.00000015.
  const places = Number(exponent) - 1 + mantissa.replace(/[-.]/g, '').length;
  return (mantissa.startsWith('-') ? 3 : 2) + places;
}

/** Numbers from here on, and their inverses, are written with an exponent in JSON and digit by digit in jsonb. */
const MAX_NUMBER = 1e21;

/** Whether jsonb spells a number with about as many digits as JSON does: of 1e308 it has 309. */
export function isStorableNumber(value: number): boolean {
  const size = Math.abs(value);
  return size === 0 || (size < MAX_NUMBER && size >= 1 / MAX_NUMBER);
}
