import { randomUUID } from 'node:crypto';
import { isUniqueViolation, type Tx } from '@croft/sql';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { usableEmails } from '../external/arrival.ts';
import * as failures from '../failures.ts';
import type { ExternalPerson } from '../outside/providers/provider.ts';
import { instant, type Person, type UserRow } from '../rows.ts';
import { auditEntry, byProvider } from '../rules/audit.ts';
import { chosenEmail } from '../rules/external/account-linking.ts';
import { externalMetadata } from '../rules/external/external-metadata.ts';
import { isBanned } from '../rules/users/ban.ts';
import { type IssuedSession, issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import * as identities from '../store/identities.ts';
import * as users from '../store/users.ts';

/** An identity as a provider tells of it, and what an account without an address gets with it. */
export interface LinkedIdentity {
  provider: string;
  subject: string;
  data: Record<string, unknown>;
  /** One that the provider verified. */
  email: string | null;
}

/** Who links it, and where they asked for that. */
export interface Linker {
  user: UserRow;
  sessionId: string | undefined;
}

/** What of a provider's words becomes an identity. */
export function linkedIdentity(provider: string, person: ExternalPerson): LinkedIdentity {
  const emails = usableEmails(person);
  return {
    provider,
    subject: person.subject,
    data: externalMetadata(person.metadata, chosenEmail(emails)),
    email: chosenEmail(emails.filter(({ verified }) => verified))?.address ?? null,
  };
}

/**
 * Makes an identity another way into the account of somebody who is signed in, and signs them in with it. One round
 * trip, two more to say why not.
 * @param codeHash the code that is used up by it
 * @throws Failure `identity_already_exists`, `email_exists`, `user_banned`, `session_not_found`
 */
export async function linkIdentity(
  context: AuthContext,
  { user, sessionId }: Linker,
  identity: LinkedIdentity,
  origin: Origin,
  codeHash?: Buffer,
): Promise<IssuedSession> {
  const tx = context.database.autocommit();
  const session = prepareSession('oauth');
  const id = randomUUID();
  const traits = { identity_id: id, provider: identity.provider, provider_id: identity.subject };
  const person = await identities
    .link(tx, {
      userId: user.id,
      askedBy: sessionId,
      identity: { ...identity, id },
      email: identity.email,
      codeHash,
      session: session.row,
      trace: {
        ...origin,
        audit: [
          auditEntry(user, 'identity_linked', traits),
          auditEntry(user, 'login', byProvider(identity.provider)),
        ],
      },
    })
    .catch((error: unknown) => {
      throw isUniqueViolation(error, 'users_email_key') ? failures.emailTaken() : error;
    });
  if (person === undefined) throw await whyNot(tx, { user, sessionId }, identity);
  return await issueFirstTokens(context, person, session, tx.now, origin);
}

/** @throws Failure `identity_already_exists` when somebody has the identity. One round trip. */
export async function checkUnowned(
  tx: Tx,
  user: Pick<UserRow, 'id'>,
  identity: LinkedIdentity,
): Promise<void> {
  const owner = await identities.findOwner(tx, identity.provider, identity.subject);
  if (owner === user.id) throw failures.identityLinkedAlready();
  if (owner !== undefined) throw failures.identityLinkedToOther();
}

async function whyNot(tx: Tx, { user, sessionId }: Linker, identity: LinkedIdentity): Promise<Error> {
  await checkUnowned(tx, user, identity);
  const now: (Person & { hasSession: boolean }) | undefined = await users.findByAccessToken(
    tx,
    user.id,
    sessionId ?? null,
  );
  if (now === undefined) return failures.callerDeleted();
  if (isBanned(instant(now.user.banned_until), tx.now)) return failures.userBanned();
  return sessionId !== undefined && !now.hasSession ? failures.linkingEnded() : failures.authCodeUnknown();
}
