/** What a query parameter says of yes or no; undefined when it is not there or says neither. */
export function readBoolean(text: string | undefined): boolean | undefined {
  if (/^(true|1|t|yes|on)$/i.test(text ?? '')) return true;
  return /^(false|0|f|no|off)$/i.test(text ?? '') ? false : undefined;
}
