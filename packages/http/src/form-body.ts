/** More fields than any form has; each costs more than the byte it takes to send. */
const MAX_FIELDS = 1000;

/**
 * The fields of an urlencoded body, or undefined when it is none. What begins like JSON is JSON: `curl -d` sends it
 * under this content type. Of several fields with one name the first counts, as in the servers clients know.
 * @throws Error when there are too many
 */
export function readForm(contentType: string | undefined, body: string): Record<string, string> | undefined {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType ?? '')) return undefined;
  if (/^\s*[{[]/.test(body)) return undefined;
  if (body.split('&', MAX_FIELDS + 1).length > MAX_FIELDS) throw new Error('the form has too many fields');
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(body)) {
    if (name !== '__proto__' && !fields.has(name)) fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
