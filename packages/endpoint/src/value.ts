import { EndpointError } from './error.ts';

/** Whether `value` is a plain object of any realm, that is, a map of names to values. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && !Object.getPrototypeOf(Object.getPrototypeOf(value ?? 0) ?? Object.prototype)
  );
}

/** The text of a single value in a URL; an object's is that of its `toJSON`, so a date is ISO 8601. What has none is refused. */
export function textOf(value: unknown, option: string): string {
  if (typeof value === 'string') return value;
  // Lists and maps within another are refused here too: RFC 6570 section 2.3 knows no nesting.
  const dated = value as Partial<Date> | null | undefined;
  const single = typeof dated?.toJSON === 'function' ? dated.toJSON() : value;
  // a string, a number, a boolean or a bigint
  if (!/^st|^n|^b/.test(typeof single)) throw new EndpointError('without text', option);
  return String(single as string);
}
