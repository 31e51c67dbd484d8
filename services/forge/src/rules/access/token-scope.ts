/** Parts of the API a token can be limited to. */
export const SCOPE_AREAS = [
  'misc',
  'user',
  'repository',
  'issue',
  'organization',
  'notification',
  'admin',
] as const;

/** One of them. */
export type ScopeArea = (typeof SCOPE_AREAS)[number];

const KNOWN = new Set([
  'all',
  'public-only',
  ...[
    'activitypub',
    'admin',
    'misc',
    'notification',
    'organization',
    'package',
    'issue',
    'repository',
    'user',
  ].flatMap((area) => [`read:${area}`, `write:${area}`]),
]);

/** Scopes of the list that do not exist. */
export function unknownScopes(scopes: readonly string[]): string[] {
  return scopes.filter((scope) => !KNOWN.has(scope));
}

/** A token without scopes, or with nothing but `public-only`, reaches every area; `write:x` includes `read:x`. */
export function scopeAllows(scopes: readonly string[], area: ScopeArea, access: 'read' | 'write'): boolean {
  const limits = scopes.filter((scope) => scope !== 'public-only');
  if (limits.length === 0 || limits.includes('all') || limits.includes(`write:${area}`)) return true;
  return access === 'read' && limits.includes(`read:${area}`);
}

/** Whether what one scope lets a token do is among what others let it do. */
export function includesScope(scopes: readonly string[], scope: string): boolean {
  return (
    scopes.includes('all') || scopes.includes(scope) || scopes.includes(scope.replace(/^read:/, 'write:'))
  );
}
