// Nothing here needs Node: the cases of the client library also run in a browser.

/** The password every test takes when it does not matter. */
export const PASSWORD = 'correct horse';

/** An address nobody has yet. */
export function someone(name = 'ada'): string {
  return `${name}-${crypto.randomUUID().slice(0, 8)}@example.com`;
}
