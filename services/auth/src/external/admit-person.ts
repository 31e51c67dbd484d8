import type { Tx } from '@croft/sql';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant } from '../rows.ts';
import { type AuditAction, auditEntry, byProvider } from '../rules/audit.ts';
import { decideLinking, type LinkAccount, type LinkDecision } from '../rules/external/account-linking.ts';
import { isBanned } from '../rules/users/ban.ts';
import { isProvenTo } from '../rules/users/proven.ts';
import { METADATA_LIMITS } from '../rules/users/user-update.ts';
import { prepareSignIn, type SignedIn } from '../sessions/prepare-sign-in.ts';
import * as externalIdentities from '../store/external-identities.ts';
import { type Admission, type Arrival, arrivalOf } from './arrival.ts';
import { askOwner, pretendToAsk } from './ask-owner.ts';
import { insertUnlessTaken, newExternalUser } from './new-external-user.ts';

interface Account extends LinkAccount {
  found: externalIdentities.Candidate;
}

/**
 * Signs in somebody a provider vouches for, in the account that is theirs or a new one. Two round trips; four
 * when another request changed the account in between.
 * @throws Failure for every reason not to let them in, `provider_email_needs_verification` with a mail on its way
 */
export async function admitPerson(context: AuthContext, admission: Admission): Promise<SignedIn> {
  const arrival = arrivalOf(admission);
  return (await admit(context, arrival)) ?? (await admit(context, arrival)) ?? changedMeanwhile();
}

function changedMeanwhile(): never {
  throw failures.tryAgain();
}

/** @returns undefined when the accounts were not any more what they were when it was decided */
async function admit(context: AuthContext, arrival: Arrival): Promise<SignedIn | undefined> {
  const { settings } = context;
  const { provider, person, emails, emailOptional, inviteTokenHash } = arrival;
  const tx = context.database.autocommit();
  const candidates = await externalIdentities.listCandidates(tx, {
    provider,
    subject: person.subject,
    emails: emails.map(({ address }) => address),
    verified: emails.filter(({ verified }) => verified).map(({ address }) => address),
    inviteTokenHash,
  });
  const accounts = candidates
    .filter(({ user }) => user.deleted_at === null)
    .map((found) => accountOf(found, tx.now));
  if (inviteTokenHash !== null) return await acceptInvitation(tx, context, arrival, accounts);

  const decision = decideLinking(
    emails,
    {
      known: accounts.find(({ found }) => found.hasIdentity),
      owners: accounts.filter(({ found }) => found.isOwner),
      claimants: accounts.filter(({ found }) => found.isClaimant),
      taken: candidates.map(({ user }) => user.email ?? ''),
    },
    {
      autoconfirm: settings.MAILER_AUTOCONFIRM,
      signupDisabled: settings.DISABLE_SIGNUP,
      allowUnverified: settings.MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS,
      emailOptional,
    },
  );
  return await carryOut(tx, context, arrival, decision);
}

async function carryOut(
  tx: Tx,
  context: AuthContext,
  arrival: Arrival,
  decision: LinkDecision<Account>,
): Promise<SignedIn | undefined> {
  switch (decision.outcome) {
    case 'sign-in': {
      const { account, links, confirms } = decision;
      const actions: AuditAction[] = [
        ...(links ? (['identity_linked'] as const) : []),
        confirms ? 'user_signedup' : 'login',
      ];
      return await open(
        tx,
        context,
        arrival,
        account,
        actions,
        confirms,
        confirms ? 'everything' : 'nothing',
      );
    }
    case 'create':
      return await create(tx, context, arrival, decision.email, decision.confirmed);
    case 'confirm-first':
      await askOwner(tx, context, arrival, decision.email, decision.account?.found.user);
      throw failures.externalEmailUnverified(arrival.provider);
    case 'unverified':
      await pretendToAsk(tx, context, arrival, decision.email);
      throw failures.externalEmailUnverified(arrival.provider);
    case 'refuse':
      throw refusalFor(decision.because, arrival);
  }
}

function refusalFor(
  because: Extract<LinkDecision<Account>, { outcome: 'refuse' }>['because'],
  { emailMissing }: Arrival,
): Error {
  switch (because) {
    case 'banned':
      return failures.userBanned();
    case 'ambiguous':
      return failures.externalAccountsAmbiguous('default');
    case 'signup-disabled':
      return failures.externalSignupDisabled();
    case 'no-email':
      return emailMissing();
  }
}

/** The invited address is proven by the link that came with it; the provider only has to know it too. */
async function acceptInvitation(
  tx: Tx,
  context: AuthContext,
  arrival: Arrival,
  accounts: readonly Account[],
): Promise<SignedIn | undefined> {
  const invited = accounts.find(({ found }) => found.isInvited);
  if (invited === undefined || invited.confirmed) throw failures.inviteTokenUnknown();
  if (!arrival.emails.some(({ address }) => address === invited.email)) throw failures.invitedEmailDiffers();
  if (invited.banned) throw failures.userBanned();
  const known = accounts.find(({ found }) => found.hasIdentity);
  if (known !== undefined && known.id !== invited.id) throw failures.externalAccountsAmbiguous('default');
  return await open(tx, context, arrival, invited, ['invite_accepted'], true, 'password');
}

async function open(
  tx: Tx,
  context: AuthContext,
  arrival: Arrival,
  account: Account,
  actions: readonly AuditAction[],
  confirms: boolean,
  forgets: externalIdentities.ExternalSignIn['forgets'],
): Promise<SignedIn | undefined> {
  const { provider, person, origin, identityData, inviteTokenHash } = arrival;
  const signIn = prepareSignIn(context, 'oauth', arrival.waiting);
  const audit = actions.map((action) => auditEntry(account.found.user, action, byProvider(provider)));
  const opened = await externalIdentities.signIn(tx, {
    user: {
      id: account.id,
      email: account.email,
      emailConfirmed: account.found.user.email_confirmed_at !== null,
      phoneConfirmed: account.hasProvenNumber,
    },
    provider,
    subject: person.subject,
    identityData,
    maxMetadataBytes: METADATA_LIMITS.user_metadata,
    ...signIn.row,
    confirms,
    forgets,
    consumes: inviteTokenHash ?? undefined,
    trace: { ...origin, audit },
  });
  return opened && (await signIn.end(opened, tx.now, origin));
}

async function create(
  tx: Tx,
  context: AuthContext,
  arrival: Arrival,
  email: string | null,
  confirmed: boolean,
): Promise<SignedIn | undefined> {
  const signIn = prepareSignIn(context, 'oauth', arrival.waiting);
  const row = newExternalUser(context, arrival, email, confirmed);
  const audit = [auditEntry(row.actor, 'user_signedup', byProvider(arrival.provider))];
  const inserted = await insertUnlessTaken(context, tx, {
    ...row.user,
    ...signIn.row,
    trace: { ...arrival.origin, audit },
  });
  if (inserted?.created !== true || inserted.person === undefined) return undefined;
  return await signIn.end(inserted.person, tx.now, arrival.origin);
}

function accountOf(found: externalIdentities.Candidate, now: Date): Account {
  const { user } = found;
  return {
    id: user.id,
    email: user.email,
    confirmed: isProvenTo('email', user),
    hasProvenNumber: user.phone_confirmed_at !== null,
    banned: isBanned(instant(user.banned_until), now),
    found,
  };
}
