import { expect } from 'vitest';
import { PASSWORD, someone } from '../../support/people.ts';
import { arrive, type Cases, good, type Here, refused, sessionOf, somebodysNumber } from '../here.ts';
import { expectNobody, opensTo } from './sign-up.ts';

/** Every way in for people who are known. */
export const signInCases: Cases = {
  async signInWithPassword({ auth, person }) {
    const phone = somebodysNumber();
    const { id, email } = await person({ phone });
    const { session, user } = good(await auth.signInWithPassword({ email, password: PASSWORD }));
    expect([user.id, session.token_type, session.expires_in]).toEqual([id, 'bearer', 3600]);
    expect(good(await auth.signInWithPassword({ phone, password: PASSWORD })).user.id).toBe(id);
    refused(await auth.signInWithPassword({ email, password: 'wrong one' }), 400, 'invalid_credentials');
    refused(
      await auth.signInWithPassword({ email: someone(), password: PASSWORD }),
      400,
      'invalid_credentials',
    );
  },

  async signInWithOtp(here) {
    const { app, auth, outside, person } = here;
    const phone = somebodysNumber();
    const { id, email } = await person({ phone });
    good(await auth.signInWithOtp({ email, options: { emailRedirectTo: app } }));
    const back = await outside.visit((await outside.mail(email)).link);
    expect((await arrive(here, auth, back)).user.id).toBe(id);
    const { messageId } = good(await auth.signInWithOtp({ phone }));
    expect(messageId).toEqual(expect.any(String));
    const token = await outside.sms(phone);
    expect(sessionOf(good(await auth.verifyOtp({ type: 'sms', phone, token }))).user.id).toBe(id);
    // Somebody new.
    const other = someone();
    const answer = await auth.signInWithOtp({ email: other, options: { data: { name: 'Grace' } } });
    if (opensTo(here) === 'nobody') return expect(await outside.waiting(other)).toBe(0);
    expect(answer.error).toBeNull();
    const session = await arrive(here, auth, await outside.visit((await outside.mail(other)).link));
    expect(session.user).toMatchObject({ email: other, user_metadata: { name: 'Grace' } });
    // Whether somebody has an address shows nowhere, here neither: nothing is made, nothing is sent.
    const stranger = someone();
    good(await auth.signInWithOtp({ email: stranger, options: { shouldCreateUser: false } }));
    expect(await outside.waiting(stranger)).toBe(0);
    await expectNobody(here, stranger);
  },

  async verifyOtp({ auth, outside, person, device }) {
    const { id, email } = await person();
    good(await auth.signInWithOtp({ email }));
    const { code, link } = await outside.mail(email);
    const wrong = code === '000000' ? '111111' : '000000';
    refused(await auth.verifyOtp({ type: 'email', email, token: wrong }), 403, 'otp_expired');
    expect(sessionOf(good(await auth.verifyOtp({ type: 'email', email, token: code }))).user.id).toBe(id);
    refused(await device().verifyOtp({ type: 'email', email, token: code }), 403, 'otp_expired');
    // What the link has is spent with the code.
    const hash = tokenIn(link);
    refused(await device().verifyOtp({ type: 'email', token_hash: hash }), 403, 'otp_expired');
    good(await auth.resetPasswordForEmail(email));
    const events: string[] = [];
    auth.onAuthStateChange((event) => void events.push(event));
    const recovery = tokenIn((await outside.mail(email)).link);
    const { session } = good(await auth.verifyOtp({ type: 'recovery', token_hash: recovery }));
    expect(session?.user.id).toBe(id);
    expect(events.at(-1)).toBe('PASSWORD_RECOVERY');
  },

  async resetPasswordForEmail(here) {
    const { app, auth, outside, person } = here;
    const { email } = await person();
    good(await auth.resetPasswordForEmail(email, { redirectTo: app }));
    await arrive(here, auth, await outside.visit((await outside.mail(email)).link));
    good(await auth.updateUser({ password: 'another password' }));
    good(await here.device().signInWithPassword({ email, password: 'another password' }));
    // Strangers learn nothing, and nothing is sent.
    const stranger = someone();
    good(await auth.resetPasswordForEmail(stranger));
    expect(await outside.waiting(stranger)).toBe(0);
  },

  async signInWithOAuth(here) {
    const email = someone('oauth');
    const session = await throughProvider(here, email);
    if (session === undefined) return;
    expect(session.user).toMatchObject({ email, app_metadata: { provider: 'github' } });
    expect(session.provider_token).toEqual(here.flow === 'pkce' ? expect.any(String) : undefined);
    expect(good(await here.auth.getUser()).user.id).toBe(session.user.id);
  },

  async exchangeCodeForSession(here) {
    const { app, auth, outside, person, device } = here;
    const { id, email } = await person();
    if (here.flow === 'implicit') {
      // Such a device has no verifier.
      const answer = await auth.exchangeCodeForSession('5f2b6a52-8c8b-4f0e-9c6b-3f0a6a4f1d11');
      return expect(answer.error?.status).toBe(400);
    }
    good(await auth.signInWithOtp({ email, options: { emailRedirectTo: app } }));
    const target = await outside.visit((await outside.mail(email)).link);
    const code = target.searchParams.get('code') ?? '';
    expect((await device().exchangeCodeForSession(code)).error?.name).toBe(
      'AuthPKCECodeVerifierMissingError',
    );
    // Somebody else who intercepted it has a verifier, but not this one.
    const thief = device();
    good(await thief.signInWithOtp({ email }));
    refused(await thief.exchangeCodeForSession(code), 400, 'bad_code_verifier');
    const { session } = good(await auth.exchangeCodeForSession(code));
    expect(session.user.id).toBe(id);
    good(await auth.signInWithOtp({ email }));
    refused(await auth.exchangeCodeForSession(code), 404, 'flow_state_not_found');
  },
};

const tokenIn = (link: string) => new URL(link).searchParams.get('token') ?? '';

/** A whole sign-in with the emulated GitHub; undefined where nobody new may come. */
async function throughProvider(here: Here, email: string) {
  const { app, auth, outside } = here;
  const { url } = good(
    await auth.signInWithOAuth({
      provider: 'github',
      options: {
        redirectTo: app,
        scopes: 'gist',
        queryParams: { login: 'ada' },
        skipBrowserRedirect: true,
      },
    }),
  );
  const provider = await outside.visit(url ?? '');
  expect(provider.searchParams.get('scope')).toContain('gist');
  const arrived = await outside.visit(await outside.agree(provider.href, email));
  expect(arrived.href.startsWith(app)).toBe(true);
  if (opensTo(here) === 'nobody') {
    expect(arrived.searchParams.get('error_code')).toBe('signup_disabled');
    return undefined;
  }
  return await arrive(here, auth, arrived);
}
