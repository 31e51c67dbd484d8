import { refreshAccount } from '../caller/check-account.ts';
import type { Context } from '../context.ts';
import { KNOWN_APPLICATIONS } from '../rules/oauth/known-applications.ts';
import * as applications from '../store/people/oauth-applications.ts';
import * as users from '../store/people/users.ts';

/** An application and its owner's name, which is null for those that every forge knows. */
export type Application = applications.ApplicationRow & { owner: string | null };

/**
 * The application that calls itself so; one that every forge knows gets its row when it first comes. Of whoever was banned or deleted there
 * is none.
 */
export async function findApplication(context: Context, clientId: string): Promise<Application | undefined> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(clientId)) return undefined;
  const tx = context.database.autocommit();
  const found = await applications.findByClientId(tx, clientId);
  const known = KNOWN_APPLICATIONS.find((one) => one.clientId === clientId);
  if (found !== undefined) return (await isOfSomebodyRefused(context, found)) ? undefined : found;
  if (known === undefined) return undefined;
  await applications.insertKnown(tx, known);
  return await applications.findByClientId(tx, clientId);
}

async function isOfSomebodyRefused(context: Context, { user_id: ownerId }: Application): Promise<boolean> {
  if (ownerId === null) return false;
  const owner = (await users.mapByIds(context.database.autocommit(), [ownerId])).get(ownerId);
  return owner !== undefined && (await refreshAccount(context, owner)).refused_at !== null;
}
