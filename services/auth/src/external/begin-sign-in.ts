import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { ProviderRefused } from '../outside/providers/provider.ts';
import type { CodeChallenge } from '../rows.ts';
import { chooseRedirect, inHeader, type RedirectWish } from '../rules/redirects/redirect.ts';
import * as flowStates from '../store/flow-states.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import { flowCookieName, setFlowCookie } from './flow-cookie.ts';
import { outsideSignal, providerRefused } from './outside-time.ts';

/** GET /authorize as it arrives. */
export interface Beginning {
  provider: string;
  /** Separated by commas, as clients have always sent them. */
  scopes: string;
  inviteToken: string;
  challenge: CodeChallenge | undefined;
  /** Who is signed in, when it is to link an identity. */
  linking?: flowStates.Linking;
  /** Every parameter of the query. */
  query: Readonly<Record<string, unknown>>;
  redirect: RedirectWish;
}

/** Parameters that are for us, and those of OAuth that nobody but us decides. */
const RESERVED = new Set(
  (
    'provider scopes scope invite_token redirect_to code_challenge code_challenge_method skip_http_redirect client_id ' +
    'client_secret redirect_uri response_type response_mode state code_verifier request request_uri'
  ).split(' '),
);

const SECRET_BYTES = 16;

/** Parameters for the provider. Browsers and proxies take addresses of some 8,000 characters. */
const MOST_PASSED = 50;
const MOST_LENGTH = 4096;

/**
 * Sends somebody to a provider (GET /authorize). What is written is a row with hashes only: of the state, which comes
 * back by way of the provider, and of a cookie, which stays with the browser. One round trip, two with an invitation.
 * @returns where the browser goes, and the cookie it gets
 * @throws Failure `validation_failed` when the provider cannot be used, `user_not_found` for an unknown invitation
 */
export async function beginSignIn(
  context: AuthContext,
  beginning: Beginning,
): Promise<{ url: string; cookie: string }> {
  const { settings, database, atRest, redirects, outside } = context;
  const provider = await outside.providers.find(beginning.provider);
  const inviteTokenHash = await checkInvitation(context, beginning.inviteToken);

  const state = randomBytes(SECRET_BYTES).toString('base64url');
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const flow = { state, scopes: listScopes(beginning.scopes), passthrough: passedOn(beginning) };
  const { url, kept = {} } = await provider.begin(flow, outsideSignal(settings)).catch((error: unknown) => {
    throw error instanceof ProviderRefused ? providerRefused(context, provider.id, error, '') : error;
  });

  const stateHash = sha256(state);
  await flowStates.insert(database.autocommit(), {
    id: randomUUID(),
    stateHash,
    browserHash: sha256(secret),
    provider: provider.id,
    redirectTo: chooseRedirect(beginning.redirect, redirects),
    sealed: atRest.seal(JSON.stringify(kept)),
    inviteTokenHash,
    challenge: beginning.challenge,
    linking: beginning.linking,
  });
  const cookie = { name: flowCookieName(settings, stateHash), value: secret };
  return { url: inHeader(url), cookie: setFlowCookie(settings, cookie, provider.answersBy) };
}

/** The form in which state and cookie are stored: 128 random bits need no salt and no slowness. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

async function checkInvitation(context: AuthContext, token: string): Promise<string | undefined> {
  if (token === '') return undefined;
  const hash = context.atRest.hashCode(token);
  const tx = context.database.autocommit();
  const found = await oneTimeTokens.findByLink(tx, hash, ['confirmation_token']);
  if (found === undefined || found.expiresAt <= tx.now) throw failures.inviteTokenUnknown();
  return hash;
}

function listScopes(scopes: string): string[] {
  // A space would be several scopes for the provider as well.
  return scopes.split(/[,\s]+/).filter((scope) => scope !== '');
}

/** @throws Failure `validation_failed` for more than a provider's address has room for */
function passedOn({ query, scopes }: Pick<Beginning, 'query' | 'scopes'>): ReadonlyMap<string, string> {
  const passed = new Map<string, string>();
  let length = scopes.length;
  if (length > MOST_LENGTH) throw tooMuchPassed();
  for (const [name, value] of Object.entries(query)) {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first !== 'string' || RESERVED.has(name.toLowerCase())) continue;
    length += name.length + first.length;
    if (passed.size >= MOST_PASSED || length > MOST_LENGTH) throw tooMuchPassed();
    passed.set(name, first);
  }
  return passed;
}

function tooMuchPassed(): Error {
  return failures.invalidValue(
    `At most ${MOST_PASSED} parameters with ${MOST_LENGTH} characters can be passed on to the provider`,
  );
}
