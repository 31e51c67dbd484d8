import { Failure } from '@croft/failure';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { errorDialect } from '../error-json.ts';
import * as failures from '../failures.ts';
import { isBoundToken } from '../rules/codes/code-challenge.ts';
import { oauthError } from '../rules/external/oauth-error.ts';
import { withAnswer, withQuery } from '../rules/redirects/answer-address.ts';
import { chooseRedirect, inHeader, type RedirectWish } from '../rules/redirects/redirect.ts';
import { sessionFragment } from '../sessions/session-json.ts';
import { OTHER_ADDRESS_NEXT } from './other-address-next.ts';
import { type Verified, verifyCode } from './verify-code.ts';

/** A link from a mail as it was opened. */
export interface OpenedLink {
  token: string;
  type: string;
  redirect: RedirectWish;
  origin: Origin;
}

/**
 * Where the browser goes that opened a link (GET /verify): to the permitted target, with the session or the refusal
 * in the fragment. A link that only its asker can use ends in a code in the query, and tells refusals there as well.
 * Only a link without its parts is refused to the browser's face.
 */
export async function followLink(context: AuthContext, link: OpenedLink): Promise<string> {
  const target = targetOf(context, link);
  try {
    const verified = await verifyCode(context, {
      type: link.type,
      proof: { link: link.token },
      password: '',
      inAddress: true,
      origin: link.origin,
    });
    return answerTo(target, verified, isBoundToken(link.token));
  } catch (error) {
    if (!(error instanceof Failure)) context.log.error({ err: error }, 'a link could not be followed');
    const failure = error instanceof Failure ? error : errorDialect.fromError(error as Error);
    const refusal = oauthError(failure);
    return isBoundToken(link.token) ? withAnswer(target, refusal) : `${target}#${fragmentOf(refusal)}`;
  }
}

/**
 * Where the link of a mail leads in the end, for the page that asks first.
 * @throws Failure `validation_failed` when a part is missing
 */
export function targetOf(context: AuthContext, link: Omit<OpenedLink, 'origin'>): string {
  checkLinkParts(link);
  return inHeader(chooseRedirect(link.redirect, context.redirects));
}

function checkLinkParts({ type, token }: Pick<OpenedLink, 'type' | 'token'>): void {
  if (type === '') throw failures.verificationTypeMissing();
  if (token === '') throw failures.invalidValue('Verify requires a token or a token hash');
}

function answerTo(target: string, verified: Verified, isBound: boolean): string {
  if (verified === 'other-address-next') {
    const answer = { message: OTHER_ADDRESS_NEXT };
    return isBound ? withAnswer(target, answer) : `${target}#${fragmentOf(answer)}`;
  }
  if ('authCode' in verified) return withQuery(target, { code: verified.authCode });
  return `${target}#${sessionFragment(verified.issued, verified.type)}`;
}

const fragmentOf = (parameters: object) => new URLSearchParams({ ...parameters, sb: '' }).toString();
