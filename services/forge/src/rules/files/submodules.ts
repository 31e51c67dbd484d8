/**
 * Where submodules come from, by their paths, as the text of `.gitmodules` says: sections whose lines are `key = value`.
 * Undefined stands for an address that it does not say.
 */
export function submoduleAddresses(text: string): Map<string, string | undefined> {
  const addresses = new Map<string, string | undefined>();
  for (const section of text.split(/^[ \t]*\[/m).slice(1)) {
    if (!section.startsWith('submodule')) continue;
    const values = new Map<string, string>();
    for (const line of section.split('\n').slice(1)) {
      const [, key = '', value = ''] = /^\s*(\w+)\s*=(.*)$/.exec(line) ?? [];
      values.set(key.toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'));
    }
    const path = values.get('path');
    if (path !== undefined && !addresses.has(path)) addresses.set(path, values.get('url'));
  }
  return addresses;
}
