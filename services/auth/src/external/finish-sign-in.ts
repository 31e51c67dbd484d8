import { Failure } from '@croft/failure';
import type { Page } from '@croft/http';
import { backToApplication } from '../caller/back-to-application.ts';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { errorDialect } from '../error-json.ts';
import * as failures from '../failures.ts';
import { askBeforeLinking, CONFIRMATION_FIELD } from '../identities/ask-before-linking.ts';
import { finishLinking } from '../identities/finish-linking.ts';
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
import { clearFlowCookie, flowCookieName, isLinkingConfirmed, readCookie } from './flow-cookie.ts';
import { outsideSignal, providerRefused } from './outside-time.ts';
import { externalSessionFragment } from './session-fragment.ts';

/** A browser that comes back from a provider. */
export interface Return {
  /** The fields of the query or the form. */
  fields: Readonly<Record<string, string>>;
  cookieHeader: string | undefined;
  origin: Origin;
}

/** Where the browser goes next, or what it is asked before. */
export type Onward =
  /** `cookie` is for `Set-Cookie`, once the flow is known to be the browser's own. */
  { status: 302 | 303; url: string; cookie?: string } | { status: 200; page: Page; cookie?: string };

/**
 * Signs in who comes back from a provider (GET and POST /callback), or links what it tells to who is signed in. Whatever
 * happens the browser is sent on: without a flow of its own to the site, else to where the application wanted it, with
 * the session, the code for one or the refusal; only who may not have begun to link is asked before. Three round trips:
 * use the flow up, see whose account it is, write. The provider is asked between the first and the second.
 */
export async function finishSignIn(context: AuthContext, back: Return): Promise<Onward> {
  const next = await finish(context, back);
  if (next.status === 200 || !(CONFIRMATION_FIELD in back.fields)) return next;
  const { url, ...rest } = next;
  return { ...rest, status: 200, page: backToApplication(url) };
}

async function finish(context: AuthContext, back: Return): Promise<Onward> {
  const { settings } = context;
  const { fields } = back;
  let taken: TakenFlow;
  try {
    taken = await takeFlow(context, back);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { status: 303, url: withQuery(settings.SITE_URL, oauthError(error)) };
  }
  const { flow, stateHash } = taken;
  const target = settings.EXTERNAL_REDIRECTURL ?? flow.redirectTo;
  const cookie = clearFlowCookie(settings, flowCookieName(settings, stateHash));
  const refusal = refusalIn(fields);
  if (refusal !== undefined) return { status: 302, url: withAnswer(target, refusal), cookie };
  try {
    if (taken.isToBeConfirmed) return { status: 200, ...(await askBeforeLinking(context, taken, fields)) };
    return { status: 302, url: await exchange(context, flow, back, target), cookie };
  } catch (error) {
    // The browser is to get back to its application, whatever it was.
    if (!(error instanceof Failure)) context.log.error({ err: error }, 'a sign-in could not be finished');
    const failure = error instanceof Failure ? error : errorDialect.fromError(error as Error);
    return { status: 302, url: withAnswer(target, oauthError(failure)), cookie };
  }
}

/** A flow that this request may go on with. */
interface TakenFlow {
  flow: ReturnedFlow;
  stateHash: Buffer;
  /** Whether it is still there, and its person is to be asked before it goes on. */
  isToBeConfirmed: boolean;
}

/**
 * Uses up the flow the browser left with.
 * @throws Failure `bad_oauth_callback` or `bad_oauth_state`
 */
async function takeFlow(context: AuthContext, { fields, cookieHeader }: Return): Promise<TakenFlow> {
  const { settings, database } = context;
  const state = fields['state'] ?? '';
  if (state === '') throw failures.oauthStateMissing();
  const stateHash = sha256(state);
  const secret = readCookie(cookieHeader, flowCookieName(settings, stateHash));
  const confirmation = fields[CONFIRMATION_FIELD] ?? '';
  const isConfirmed = isLinkingConfirmed(settings, stateHash, cookieHeader, confirmation);
  const tx = database.autocommit();
  const flow = await flowStates.consume(tx, stateHash, sha256(secret), isConfirmed);
  if (flow === undefined) throw failures.oauthStateInvalid();
  const isBound = flow.sameBrowser || (flow.linking !== null && (flow.challenge !== null || isConfirmed));
  if (!isBound && flow.linking === null) throw failures.oauthStateForeign();
  if (isBound && !flow.consumed) throw failures.oauthStateInvalid();
  const age = tx.now.getTime() - flow.createdAt.getTime();
  if (age >= settings.EXTERNAL_FLOW_STATE_EXPIRY_DURATION) throw failures.oauthStateExpired();
  return { flow, stateHash, isToBeConfirmed: !isBound };
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
  const { linking } = flow;
  const arrived = { provider: provider.id, person, waiting, origin };
  const signedIn =
    linking === null
      ? await admitPerson(context, {
          ...arrived,
          emailOptional: provider.emailOptional,
          emailMissing: failures.externalEmailMissing,
          inviteTokenHash: flow.inviteTokenHash,
          redirectTo: flow.redirectTo,
        })
      : await finishLinking(context, { ...arrived, linking });
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
