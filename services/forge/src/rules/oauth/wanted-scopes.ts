import { includesScope, unknownScopes } from '../access/token-scope.ts';

/**
 * What a program asks for, of the scopes there are; spaces or commas are between them. As in the reference, those of OpenID Connect
 * and unknown ones count for nothing, and who asks for nothing that is known asks for everything.
 */
export function wantedScopes(text: string): string[] {
  const wanted = new Set(text.split(/[\s,]+/).filter((scope) => scope !== ''));
  const known = [...wanted].filter((scope) => unknownScopes([scope]).length === 0);
  const areas = known.filter((scope) => scope !== 'public-only');
  return areas.length === 0 ? ['all', ...known] : known;
}

/**
 * What an access token gets when a program asks for less at a refresh (RFC 6749 §6), read as above.
 * @returns undefined when it asks for more than it was allowed
 */
export function narrowedScopes(allowed: readonly string[], text: string): string[] | undefined {
  const wanted = wantedScopes(text);
  const isWhole = text
    .split(/[\s,]+/)
    .every((scope) => scope === 'public-only' || unknownScopes([scope]).length > 0);
  const areas = (isWhole ? allowed : wanted).filter((scope) => scope !== 'public-only');
  if (!areas.every((scope) => includesScope(allowed, scope))) return undefined;
  const isPublicOnly = [...allowed, ...wanted].includes('public-only');
  return isPublicOnly ? [...areas, 'public-only'] : areas;
}

/** What somebody allowed in several sign-ins taken together. One of them that reaches more than what is public makes the whole reach it. */
export function joinedScopes(sets: readonly (readonly string[])[]): string[] {
  const all = [...new Set(sets.flat())].toSorted();
  return sets.every((scopes) => scopes.includes('public-only'))
    ? all
    : all.filter((scope) => scope !== 'public-only');
}

/** The scopes in words, for who is asked. */
export function describeScopes(scopes: readonly string[]): string {
  const limits = scopes.filter((scope) => scope !== 'public-only');
  const where = scopes.includes('public-only') ? ' Of repositories it reaches public ones only.' : '';
  if (limits.includes('all')) {
    return `It asks for everything that you can do here, except to make tokens.${where}`;
  }
  const ofKind = (kind: string) =>
    limits.filter((scope) => scope.startsWith(`${kind}:`)).map((scope) => scope.slice(kind.length + 1));
  const [changed, read] = [ofKind('write'), ofKind('read')];
  const parts = [
    changed.length === 0 ? '' : `read and change: ${changed.join(', ')}`,
    read.length === 0 ? '' : `read: ${read.join(', ')}`,
  ].filter((part) => part !== '');
  return `It asks to ${parts.join('; to ')}.${where}`;
}
