import { Failure } from '@croft/failure';
import { isDatabaseUnavailable } from '@croft/sql';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import {
  type ExternalPerson,
  type Kept,
  type Provider,
  ProviderRefused,
} from '../outside/providers/provider.ts';
import { oauthError } from '../rules/external/oauth-error.ts';
import { type ErrorParameters, withAnswer, withQuery } from '../rules/redirects/answer-address.ts';
import { inHeader } from '../rules/redirects/redirect.ts';
import { sealProviderTokens } from '../sessions/provider-tokens.ts';
import type { ReturnedFlow } from '../store/flow-states.ts';
import * as flowStates from '../store/flow-states.ts';
import { admitPerson } from './admit-person.ts';
import { sha256 } from './begin-sign-in.ts';
import { clearFlowCookie, flowCookieName, readCookie } from './flow-cookie.ts';
import { outsideSignal, providerRefused } from './outside-time.ts';
import { externalSessionFragment } from './session-fragment.ts';

/** A browser that comes back from a provider. */
export interface Return {
  /** The fields of the query or the form. */
  fields: Readonly<Record<string, string>>;
  cookieHeader: string | undefined;
  origin: Origin;
}

/** Where the browser goes next. */
export interface Onward {
  status: 302 | 303;
  url: string;
  /** `Set-Cookie`, once the flow is known to be the browser's own. */
  cookie?: string;
}

/**
 * Signs in who comes back from a provider (GET and POST /callback). Whatever happens the browser is sent on: without a
 * flow of its own to the site, else to where the application wanted it, with the session, the code for one or the refusal. Three round
 * trips: use the flow up, see whose account it is, write. The provider is asked between the first and the second.
 */
export async function finishSignIn(context: AuthContext, back: Return): Promise<Onward> {
  const { settings } = context;
  const { fields } = back;
  let flow: ReturnedFlow;
  try {
    flow = await takeFlow(context, back);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { status: 303, url: withQuery(settings.SITE_URL, oauthError(error)) };
  }
  const target = settings.EXTERNAL_REDIRECTURL ?? flow.redirectTo;
  const cookie = clearFlowCookie(settings, flowCookieName(settings, sha256(fields['state'] ?? '')));
  const refusal = refusalIn(fields);
  if (refusal !== undefined) return { status: 302, url: withAnswer(target, refusal), cookie };
  try {
    return { status: 302, url: await exchange(context, flow, back, target), cookie };
  } catch (error) {
    const failure = isDatabaseUnavailable(error) ? failures.databaseUnavailable(error) : error;
    if (!(failure instanceof Failure)) throw error;
    return { status: 302, url: withAnswer(target, oauthError(failure)), cookie };
  }
}

/**
 * Uses up the flow the browser left with.
 * @throws Failure `bad_oauth_callback` or `bad_oauth_state`
 */
async function takeFlow(context: AuthContext, { fields, cookieHeader }: Return): Promise<ReturnedFlow> {
  const { settings, database } = context;
  const state = fields['state'] ?? '';
  if (state === '') throw failures.oauthStateMissing();
  const stateHash = sha256(state);
  const secret = readCookie(cookieHeader, flowCookieName(settings, stateHash));
  const tx = database.autocommit();
  const flow = await flowStates.consume(tx, stateHash, sha256(secret));
  if (flow === undefined) throw failures.oauthStateInvalid();
  if (!flow.sameBrowser) throw failures.oauthStateForeign();
  if (!flow.consumed) throw failures.oauthStateInvalid();
  const age = tx.now.getTime() - flow.createdAt.getTime();
  if (age >= settings.EXTERNAL_FLOW_STATE_EXPIRY_DURATION) throw failures.oauthStateExpired();
  return flow;
}

/** What the provider says instead of a code, passed on in its own words. */
function refusalIn(fields: Return['fields']): ErrorParameters | undefined {
  const { error, error_description: description, denied } = fields;
  // Twitter tells only which request token was denied.
  if (error === undefined && denied !== undefined) return { error: 'access_denied' };
  if (error === undefined || error === '') return undefined;
  const words = { error, ...(description ? { error_description: description } : {}) };
  return Object.fromEntries(Object.entries(words).map(([name, text]) => [name, text.slice(0, 512)]));
}

/** The address with what the sign-in came to. */
async function exchange(
  context: AuthContext,
  flow: ReturnedFlow,
  { fields, origin }: Return,
  target: string,
): Promise<string> {
  const provider = await context.outside.providers.find(flow.provider);
  const person = await askProvider(context, provider, flow, fields);
  const { challenge } = flow;
  const waiting =
    challenge === null ? undefined : { challenge, sealed: sealProviderTokens(context, person.tokens) };
  const signedIn = await admitPerson(context, {
    provider: provider.id,
    emailOptional: provider.emailOptional,
    person,
    inviteTokenHash: flow.inviteTokenHash,
    redirectTo: flow.redirectTo,
    waiting,
    origin,
  });
  if ('authCode' in signedIn) return withQuery(target, { code: signedIn.authCode });
  return inHeader(`${target}#${externalSessionFragment(signedIn.issued, provider.id, person.tokens)}`);
}

async function askProvider(
  context: AuthContext,
  provider: Provider,
  flow: ReturnedFlow,
  fields: Return['fields'],
): Promise<ExternalPerson> {
  // OAuth 1.0a has a verifier in place of the code.
  const code = fields['code'] || fields['oauth_verifier'] || '';
  if (code === '') throw failures.oauthCodeMissing();
  const kept = keptIn(context, flow);
  try {
    return await provider.finish({ code, form: fields, kept }, outsideSignal(context.settings));
  } catch (error) {
    throw error instanceof ProviderRefused ? providerRefused(context, provider.id, error, code) : error;
  }
}

function keptIn({ atRest }: AuthContext, { sealed }: ReturnedFlow): Kept {
  if (sealed === null) return {};
  let text: string;
  try {
    text = atRest.open(sealed);
  } catch {
    // Sealed with another at-rest key: the flow cannot be finished any more.
    throw failures.oauthStateInvalid();
  }
  return JSON.parse(text) as Kept;
}
