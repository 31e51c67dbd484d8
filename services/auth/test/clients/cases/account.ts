import { expect } from 'vitest';
import { PASSWORD, someone } from '../../support/people.ts';
import { type Cases, good, type Here, refused, somebodysNumber } from '../here.ts';

/** What people do with their own accounts. */
export const accountCases: Cases = {
  async updateUser(here) {
    const { auth, signedIn, device } = here;
    const { user } = await signedIn();
    const { user: changed } = good(await auth.updateUser({ data: { name: 'Ada', color: 'blue' } }));
    expect(changed.user_metadata).toMatchObject({ name: 'Ada', color: 'blue' });
    refused(await auth.updateUser({ password: PASSWORD }), 422, 'same_password');
    good(await auth.updateUser({ password: 'another password' }));
    good(await device().signInWithPassword({ email: user.email, password: 'another password' }));
    await moves(here, user.email);
  },

  async reauthenticate({ auth, outside, signedIn }) {
    expect((await auth.reauthenticate()).error?.name).toBe('AuthSessionMissingError');
    const { user } = await signedIn();
    expect((await auth.reauthenticate()).error).toBeNull();
    const { code } = await outside.mail(user.email);
    good(await auth.updateUser({ password: 'another password', nonce: code }));
  },

  async getUserIdentities({ auth, signedIn }) {
    expect((await auth.getUserIdentities()).error?.name).toBe('AuthSessionMissingError');
    const { user } = await signedIn();
    const { identities } = good(await auth.getUserIdentities());
    expect(identities).toMatchObject([
      {
        provider: 'email',
        id: user.id,
        user_id: user.id,
        identity_id: expect.any(String),
        identity_data: { email: user.email, sub: user.id },
      },
    ]);
  },

  async 'mfa.listFactors'({ auth, signedIn }) {
    await signedIn();
    expect(good(await auth.mfa.listFactors())).toEqual({
      all: [],
      phone: [],
      totp: [],
      webauthn: [],
      recovery_code: [],
    });
  },

  async 'mfa.getAuthenticatorAssuranceLevel'({ auth, signedIn }) {
    const { session } = await signedIn();
    const level = {
      currentLevel: 'aal1',
      nextLevel: 'aal1',
      currentAuthenticationMethods: [{ method: 'password', timestamp: expect.any(Number) }],
    };
    expect(good(await auth.mfa.getAuthenticatorAssuranceLevel())).toEqual(level);
    expect(good(await auth.mfa.getAuthenticatorAssuranceLevel(session.access_token))).toEqual(level);
  },
};

/** A change of address: both have to agree, whichever comes first; the new one alone where addresses are believed. */
async function moves({ auth, app, outside, flow, server }: Here, from: string): Promise<void> {
  const email = someone('moved');
  const asked = good(await auth.updateUser({ email }, { emailRedirectTo: app })).user;
  expect(asked).toMatchObject({ email: from, new_email: email });
  if (server.configuration === 'confirmation' || server.configuration === 'no sign-up') {
    const half = await outside.visit((await outside.mail(from)).link);
    expect(half.href).toContain('message=');
  }
  const whole = await outside.visit((await outside.mail(email)).link);
  expect(whole.searchParams.has('code')).toBe(flow === 'pkce');
  if (flow === 'pkce') good(await auth.exchangeCodeForSession(whole.searchParams.get('code') ?? ''));
  expect(good(await auth.getUser()).user.email).toBe(email);
}

/** A change of number belongs to `updateUser` as well, but needs a message. */
export const phoneCases: Cases = {
  async updateUser({ auth, outside, server, signedIn }) {
    await signedIn();
    const phone = somebodysNumber();
    good(await auth.updateUser({ phone }));
    if (server.configuration === 'confirmation' || server.configuration === 'no sign-up') {
      const token = await outside.sms(phone);
      good(await auth.verifyOtp({ type: 'phone_change', phone, token }));
    }
    expect(good(await auth.getUser()).user.phone).toBe(phone);
  },
};
