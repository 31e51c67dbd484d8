/**
 * The path and query of a request after something in it got another name: the first segments that are the old names,
 * whatever their case and encoding, become the new ones. A `.git` at the end of one stays.
 * @param prefix of the API, in which nothing is a name
 * @returns undefined when the path does not have them
 */
export function movedPath(
  url: string,
  prefix: string,
  from: readonly string[],
  to: readonly string[],
): string | undefined {
  const [path = '', ...query] = url.split('?');
  const segments = path.split('/');
  const first = path.startsWith(`${prefix}/`) ? prefix.split('/').length : 0;
  const at = segments.findIndex(
    (_, start) => start >= first && from.every((name, index) => isName(segments[start + index], name)),
  );
  if (at === -1) return undefined;
  for (const [index, name] of to.entries()) {
    const suffix = /\.git$/i.exec(segments[at + index] ?? '')?.[0] ?? '';
    segments[at + index] = encodeURIComponent(name) + suffix;
  }
  return [segments.join('/'), ...query].join('?');
}

function isName(segment: string | undefined, name: string): boolean {
  if (segment === undefined) return false;
  try {
    const text = decodeURIComponent(segment).toLowerCase();
    return text === name.toLowerCase() || text === `${name.toLowerCase()}.git`;
  } catch {
    return false;
  }
}
