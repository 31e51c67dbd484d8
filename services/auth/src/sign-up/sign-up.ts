import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { signUpWithPhone } from '../phone/sign-up-with-phone.ts';
import { chooseRedirect, type RedirectWish } from '../rules/redirects/redirect.ts';
import { checkMetadataSize } from '../rules/users/user-update.ts';
import { checkSignUp, type SignUpFields } from './check-sign-up.ts';
import type { SignUpResult } from './checked-sign-up.ts';
import { signUpAnonymously } from './sign-up-anonymously.ts';
import { signUpWithEmail } from './sign-up-with-email.ts';

/** A sign-up as it arrives. */
export interface SignUpRequest extends SignUpFields {
  data: Record<string, unknown>;
  origin: Origin;
  redirect: RedirectWish;
}

/**
 * Makes an account for an address or a number, or without either (POST /signup).
 * @throws Failure for the first check that fails, or when a message went to the address just before, taken or not
 */
export async function signUp(context: AuthContext, request: SignUpRequest): Promise<SignUpResult> {
  const { settings, outside, redirects } = context;
  const { data, origin } = request;
  const door = await checkSignUp(context, request);
  checkMetadataSize({}, data);
  if (door === 'anonymous') return { issued: await signUpAnonymously(context, data, origin) };
  const passwordHash = await outside.passwords.hash(request.password);
  if (door === 'phone') return await signUpWithPhone(context, { ...request, passwordHash });
  return await signUpWithEmail(context, {
    // Not the audience the client wishes: the address would be taken, and its owner find no account where they look.
    draft: { aud: settings.JWT_AUD, role: settings.JWT_DEFAULT_GROUP_NAME, email: door.email, data },
    password: request.password,
    passwordHash,
    redirectTo: chooseRedirect(request.redirect, redirects),
    challenge: door.challenge,
    origin,
  });
}
