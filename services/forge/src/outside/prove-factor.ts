import { Failure } from '@croft/failure';
import { type Factor, isAppCode } from '../rules/access/second-factor.ts';
import { askAuth } from './ask-auth.ts';

/** A session that the password opened, and the code that is to raise it. */
export interface FactorProof {
  token: string;
  factors: readonly Factor[];
  code: string;
  client: string | undefined;
}

/**
 * Raises a session at the auth service with the code of one of its user's authenticator apps, or a recovery code. A code names
 * no app: each is tried, and the auth service counts a wrong one for each.
 * @returns the access token of the raised session; undefined when the code is wrong or was used
 * @throws 429 where none is right and too many were wrong; of a locked app that one is right is not found out
 */
export async function proveFactor(authUrl: string, proof: FactorProof): Promise<string | undefined> {
  const { token, factors, code, client } = proof;
  const ask = async (path: string, body: Record<string, string>) =>
    await askAuth(authUrl, { path, body, token, client });
  if (!isAppCode(code)) return tokenOf(await ask('/factors/recovery-codes/verify', { code }));
  let locked: Failure | undefined;
  for (const { id, type } of factors) {
    if (type !== 'totp') continue;
    try {
      const challenge = await ask(`/factors/${id}/challenge`, {});
      if (challenge === undefined) continue;
      const answer = { challenge_id: String(challenge['id']), code };
      const raised = tokenOf(await ask(`/factors/${id}/verify`, answer));
      if (raised !== undefined) return raised;
    } catch (error) {
      // Somebody guessed at one app; the code may be of another.
      if (!(error instanceof Failure) || error.kind !== 'exhausted') throw error;
      locked = error;
    }
  }
  if (locked !== undefined) throw locked;
  return undefined;
}

/** The access token of a session that the auth service answered with. */
export function tokenOf(session: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const token = session?.['access_token'];
  return typeof token === 'string' ? token : undefined;
}
