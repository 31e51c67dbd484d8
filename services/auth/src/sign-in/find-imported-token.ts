import type { Database } from '@croft/sql';
import type { AuthContext } from '../context.ts';
import { canBeImported, importedSecret, importedToken } from '../rules/tokens/imported-token.ts';
import { hashOf, type RefreshToken } from '../rules/tokens/refresh-token.ts';
import * as importedTokens from '../store/imported-refresh-tokens.ts';

/** How long a service that found nothing imported believes that. */
const BELIEVED_MS = 5_000;

const nothingUntil = new WeakMap<Database, number>();

/**
 * The refresh token that a text stands for which is none of ours: one of a session that was opened with GoTrue and taken over.
 * Where nothing was, strangers with invented tokens cost a look in five seconds.
 */
export async function findImportedToken(
  { database, atRest, clock }: AuthContext,
  text: string,
): Promise<RefreshToken | undefined> {
  const now = clock.now().getTime();
  if (!canBeImported(text) || (nothingUntil.get(database) ?? 0) > now) return undefined;
  const secret = importedSecret(text, atRest.refreshTokens);
  const tx = database.autocommit();
  const sessionId = await importedTokens.findSession(tx, hashOf({ sessionId: '', counter: 0, secret }));
  if (sessionId !== undefined) return importedToken(sessionId, secret);
  if (!(await importedTokens.exist(tx))) nothingUntil.set(database, now + BELIEVED_MS);
  return undefined;
}
