import type { AuthContext } from '../context.ts';
import type { Person } from '../rows.ts';
import { isProvenTo } from '../rules/users/proven.ts';

/**
 * The hash a sign-up of an address or number leaves waiting: that of the account where the password is the same, which
 * tells that nobody else typed another, or its own. It takes the same time whoever has the address.
 */
export async function waitingHash(
  context: AuthContext,
  kind: 'email' | 'phone',
  { password, passwordHash }: { password: string; passwordHash: string },
  existing: Person | undefined,
): Promise<string> {
  const user = existing?.user;
  const stored = user === undefined || isProvenTo(kind, user) ? null : user.encrypted_password;
  const isSame = await context.outside.passwords.verify(password, stored);
  return stored !== null && isSame ? stored : passwordHash;
}
