/** The full name in what a user's metadata on the auth side say; empty when they say none. */
export const fullNameOf = (metadata: unknown): string =>
  textOf(metadata, 'full_name') ?? textOf(metadata, 'name') ?? '';

/** The login that a user chose when he signed up. */
export const wantedLoginOf = (metadata: unknown): string | undefined => textOf(metadata, 'user_name');

/** Users write their metadata themselves: anything may be in it, NUL included, which PostgreSQL cannot keep. */
function textOf(metadata: unknown, key: string): string | undefined {
  const value = (metadata as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  return typeof value === 'string' && value !== '' ? value.replaceAll('\0', '').slice(0, 255) : undefined;
}
