import { unknownScopes } from '../access/token-scope.ts';

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
