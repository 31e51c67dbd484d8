/**
 * Where the submodule at a path comes from, by the text of `.gitmodules`: sections whose lines are `key = value`.
 * Undefined when the text does not say.
 */
export function submoduleAddress(text: string, path: string): string | undefined {
  for (const section of text.split(/^[ \t]*\[/m).slice(1)) {
    if (!section.startsWith('submodule')) continue;
    const values = new Map<string, string>();
    for (const line of section.split('\n').slice(1)) {
      const [, key = '', value = ''] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      values.set(key.toLowerCase(), value.replace(/^"(.*)"$/, '$1'));
    }
    if (values.get('path') === path) return values.get('url');
  }
  return undefined;
}
