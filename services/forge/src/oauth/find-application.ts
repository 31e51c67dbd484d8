import type { Context } from '../context.ts';
import { KNOWN_APPLICATIONS } from '../rules/oauth/known-applications.ts';
import * as applications from '../store/people/oauth-applications.ts';

/** An application and its owner's name, which is null for those that every forge knows. */
export type Application = applications.ApplicationRow & { owner: string | null };

/** The application that calls itself so; one that every forge knows gets its row when it first comes. */
export async function findApplication(
  { database }: Context,
  clientId: string,
): Promise<Application | undefined> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(clientId)) return undefined;
  const tx = database.autocommit();
  const found = await applications.findByClientId(tx, clientId);
  const known = KNOWN_APPLICATIONS.find((one) => one.clientId === clientId);
  if (found !== undefined || known === undefined) return found;
  await applications.insertKnown(tx, known);
  return await applications.findByClientId(tx, clientId);
}
