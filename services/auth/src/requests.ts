import { z } from 'zod';
import { isStorableNumber } from './rules/users/jsonb-bytes.ts';

/**
 * A text of a request body. As in the servers clients know, null and absence mean the empty text; what is required
 * is checked by the operation, which has the contract's words for it.
 */
export const textField = z
  .string()
  .refine((value) => !value.includes('\0'), 'a text cannot contain the character U+0000')
  .nullish()
  .transform((value) => value ?? '');

/** A yes or no of a request body, which is a text in forms. */
export const flagField = z
  .union([z.boolean(), z.enum(['true', 'false', ''])])
  .nullish()
  .transform((value) => value === true || value === 'true');

const MAX_DEPTH = 64;

/** A free object of a request body. */
export const objectField = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => isStorable(value, MAX_DEPTH),
    'it is nested too deeply, or contains U+0000, half a character or a number that is too large or too small',
  )
  .nullish()
  .transform((value) => value ?? {});

/** A body whose field names are compared without case and whose unknown fields are ignored. */
export function lenientBody<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  return z.preprocess((body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
    const known: [string, unknown][] = [];
    for (const [key, value] of Object.entries(body)) {
      const name = names.get(key.toLowerCase());
      if (name !== undefined) known.push([name, value]);
    }
    return Object.fromEntries(known);
  }, z.object(shape));
}

/** A field of a body that is not validated yet, found as `lenientBody` finds it: without case, of several the last. */
export function lastField(body: unknown, name: string): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  return Object.entries(body).findLast(([key]) => key.toLowerCase() === name)?.[1];
}

/** A query parameter; of several with the name the first counts. */
export const queryText = z.preprocess(
  (value) => (Array.isArray(value) ? value[0] : value),
  z.string().optional(),
);

/**
 * Whether the database can keep the value: jsonb knows neither U+0000 nor lone surrogates, and has a limit of depth. It
 * spells 1e308 with 309 digits, so that a body of them would become many times as large in whatever is read.
 */
function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value === 'number') return isStorableNumber(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  return Object.entries(value).every(([key, item]) => isStorable(key, 0) && isStorable(item, depth - 1));
}
