import { Failure } from '@croft/failure';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { chooseRedirect, type RedirectWish } from '../rules/redirect.ts';
import { sessionFragment } from '../sessions/session-json.ts';
import { failureFragment } from './failure-fragment.ts';
import { verifyCode } from './verify-code.ts';

/** A link from a mail as it was opened. */
export interface OpenedLink {
  token: string;
  type: string;
  redirect: RedirectWish;
  origin: Origin;
}

/**
 * Where the browser goes that opened a link (GET /verify): to the permitted target, with the session or the refusal
 * in the fragment. Only a link without its parts is refused to the browser's face.
 */
export async function followLink(context: AuthContext, link: OpenedLink): Promise<string> {
  if (link.type === '') throw failures.invalidValue('Verify requires a verification type');
  if (link.token === '') throw failures.invalidValue('Verify requires a token or a token hash');
  const target = inHeader(chooseRedirect(link.redirect, context.redirects));
  try {
    const { issued, type } = await verifyCode(context, {
      type: link.type,
      proof: { hash: link.token },
      password: '',
      origin: link.origin,
    });
    return `${target}#${sessionFragment(issued, type)}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `${target}#${failureFragment(error)}`;
  }
}

/** Header fields hold ASCII; browsers write the rest of an address the same way. */
function inHeader(address: string): string {
  return address.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent);
}
