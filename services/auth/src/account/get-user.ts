import { authenticateCaller } from '../caller/authenticate-caller.ts';
import type { AuthContext } from '../context.ts';
import { audienceMismatch } from '../failures.ts';
import type { Person } from '../rows.ts';

/**
 * The caller's own account (GET /user). One round trip.
 * @throws Failure `validation_failed` when the client asks in the name of another audience than its token's
 */
export async function getUser(
  context: AuthContext,
  authorization: string | undefined,
  audience: string | undefined,
): Promise<Person> {
  const { person, claims } = await authenticateCaller(context, authorization);
  if (audience !== undefined && audience !== claims.aud) {
    throw audienceMismatch();
  }
  return person;
}
