import { hash, randomUUID } from 'node:crypto';
import type { Tx } from '@croft/sql';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { insertUnlessTaken } from '../external/new-external-user.ts';
import * as failures from '../failures.ts';
import { askingClient } from '../limits/asking-client.ts';
import { instant, type Person } from '../rows.ts';
import { auditEntry, byProvider } from '../rules/audit.ts';
import { isBanned } from '../rules/users/ban.ts';
import { METADATA_LIMITS } from '../rules/users/user-update.ts';
import { CLOCK_SKEW_MS, lastMoment, refusalOf } from '../rules/web3/check-message.ts';
import { MalformedMessage, type SignedMessage } from '../rules/web3/signed-message.ts';
import { PROVIDER, walletMetadata, walletSubject } from '../rules/web3/wallet-identity.ts';
import { type IssuedSession, issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import * as externalIdentities from '../store/external-identities.ts';
import * as web3Messages from '../store/web3-messages.ts';
import { chainNamed, type WalletChain } from './chains.ts';

/** A message and the signature of the wallet, as they arrive. */
export interface WalletGrant {
  chain: string;
  message: string;
  signature: string;
  origin: Origin;
}

/** Whose wallet it is, and what is kept of it. */
interface Wallet {
  subject: string;
  identityData: Record<string, unknown>;
  origin: Origin;
}

const MIN_MESSAGE_BYTES = 64;
const MAX_MESSAGE_BYTES = 20_480;

/**
 * Signs in who has the key of a wallet (POST /token?grant_type=web3), in the account that is theirs or a new one. Two
 * round trips; a message is used up by the first, whatever comes of it.
 * @throws Failure `web3_provider_disabled`, `web3_unsupported_chain`; `invalid_credentials` for a message that lets
 * nobody in, with the reason
 */
export async function signInWithWallet(context: AuthContext, grant: WalletGrant): Promise<IssuedSession> {
  const chain = chainNamed(context.settings, grant.chain);
  await context.limits.take('web3', askingClient() ?? null);
  const message = await checkedMessage(context, chain, grant);
  const wallet: Wallet = {
    subject: walletSubject(chain.name, message),
    identityData: walletMetadata(chain.name, message),
    origin: grant.origin,
  };
  const tx = context.database.autocommit();
  const { isFresh, person } = await web3Messages.spend(tx, {
    hash: hash('sha256', `${chain.name} ${grant.message}`, 'buffer'),
    expiresAt: new Date(lastMoment(message, chain.validityMs).getTime() + CLOCK_SKEW_MS),
    provider: PROVIDER,
    subject: wallet.subject,
  });
  if (!isFresh) throw failures.web3Refused('the message was used before');
  const issued = (await admit(tx, context, wallet, person)) ?? (await admitAgain(context, wallet));
  if (issued === undefined) throw failures.tryAgain();
  return issued;
}

/** @throws Failure unless the message is one for this service and this moment, and the wallet's own signature is on it */
async function checkedMessage(
  { redirects, clock }: AuthContext,
  chain: WalletChain,
  { message, signature }: WalletGrant,
): Promise<SignedMessage> {
  const bytes = Buffer.byteLength(message);
  if (bytes < MIN_MESSAGE_BYTES || bytes > MAX_MESSAGE_BYTES) throw failures.web3MessageLength();
  let parsed: SignedMessage;
  try {
    parsed = chain.parse(message);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw failures.web3Refused(`the message ${error.message}`);
  }
  const refusal = refusalOf(parsed, { validityMs: chain.validityMs, redirects }, clock.now());
  if (refusal !== undefined) throw failures.web3Refused(refusal);
  if (!(await chain.isSigned(message, parsed.address, signature))) {
    throw failures.web3Refused('the signature is not that of the account');
  }
  return parsed;
}

/** @returns undefined when the account is not any more what it was when it was looked at */
async function admit(
  tx: Tx,
  context: AuthContext,
  wallet: Wallet,
  person: Person | undefined,
): Promise<IssuedSession | undefined> {
  if (person === undefined) return await create(tx, context, wallet);
  const { user } = person;
  if (isBanned(instant(user.banned_until), tx.now)) throw failures.userBanned();
  const session = prepareSession('web3');
  const opened = await externalIdentities.signIn(tx, {
    user: {
      id: user.id,
      email: user.email,
      emailConfirmed: user.email_confirmed_at !== null,
      phoneConfirmed: user.phone_confirmed_at !== null,
    },
    provider: PROVIDER,
    subject: wallet.subject,
    identityData: wallet.identityData,
    maxMetadataBytes: METADATA_LIMITS.user_metadata,
    session: session.row,
    confirms: false,
    forgets: 'nothing',
    consumes: undefined,
    trace: { ...wallet.origin, audit: [auditEntry(user, 'login', byProvider(PROVIDER))] },
  });
  return opened && (await issueFirstTokens(context, opened, session, tx.now, wallet.origin));
}

async function create(
  tx: Tx,
  context: AuthContext,
  { subject, identityData, origin }: Wallet,
): Promise<IssuedSession | undefined> {
  const { settings } = context;
  if (settings.DISABLE_SIGNUP) throw failures.signupDisabled();
  const id = randomUUID();
  const session = prepareSession('web3');
  const actor = { id, email: null, phone: null, is_sso_user: false, raw_user_meta_data: identityData };
  const inserted = await insertUnlessTaken(context, tx, {
    id,
    aud: settings.JWT_AUD,
    role: settings.JWT_DEFAULT_GROUP_NAME,
    email: null,
    phone: null,
    emailConfirmed: false,
    phoneConfirmed: false,
    passwordHash: null,
    appMetadata: { provider: PROVIDER, providers: [PROVIDER] },
    userMetadata: identityData,
    identity: { provider: PROVIDER, providerId: subject, data: identityData },
    isAnonymous: false,
    session: session.row,
    trace: { ...origin, audit: [auditEntry(actor, 'user_signedup', byProvider(PROVIDER))] },
  });
  if (inserted?.created !== true || inserted.person === undefined) return undefined;
  return await issueFirstTokens(context, inserted.person, session, tx.now, origin);
}

/** Two messages of one new wallet at the same moment: the second finds the account that the first has made. */
async function admitAgain(context: AuthContext, wallet: Wallet): Promise<IssuedSession | undefined> {
  const tx = context.database.autocommit();
  const [found] = await externalIdentities.listCandidates(tx, {
    provider: PROVIDER,
    subject: wallet.subject,
    emails: [],
    verified: [],
    inviteTokenHash: null,
  });
  return found?.user.deleted_at === null ? await admit(tx, context, wallet, found) : undefined;
}
