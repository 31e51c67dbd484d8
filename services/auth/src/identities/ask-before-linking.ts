import { randomBytes } from 'node:crypto';
import { type Page, questionPage } from '@croft/http';
import type { AuthContext } from '../context.ts';
import { linkingCookie } from '../external/flow-cookie.ts';
import * as failures from '../failures.ts';
import type { ReturnedFlow } from '../store/flow-states.ts';
import * as users from '../store/users.ts';

/** The field of the form that says that the person was asked. */
export const CONFIRMATION_FIELD = 'linking';

const SECRET_BYTES = 16;

/**
 * The page that asks whether an account of a provider shall be linked, for a browser of which we do not know that the
 * link was begun in it: else anybody could make somebody open the way to the provider, and have their account there for
 * a way into his own. Its button sends a secret that its cookie has as well, which no other site can do (decision 0021). One round trip.
 */
export async function askBeforeLinking(
  context: AuthContext,
  { flow, stateHash }: { flow: ReturnedFlow; stateHash: Buffer },
  fields: Readonly<Record<string, string>>,
): Promise<{ page: Page; cookie: string }> {
  const { settings, database } = context;
  const found =
    flow.linking === null ? undefined : await users.findById(database.autocommit(), flow.linking.userId);
  if (found === undefined) throw failures.callerDeleted();
  const { email, phone, id } = found.user;
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const page = questionPage({
    heading: 'Link your accounts?',
    text: `Your account at ${flow.provider} will be a way to sign in to the account of ${email || phone || id}. Go on only if both are yours.`,
    action: 'callback',
    fields: { ...fields, [CONFIRMATION_FIELD]: secret },
  });
  return { page, cookie: linkingCookie(settings, stateHash, secret) };
}
