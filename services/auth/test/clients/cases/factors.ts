import { TOTP, URI } from 'otpauth';
import { expect } from 'vitest';
import { PASSWORD } from '../../support/people.ts';
import { type Cases, good, type Here, refused, somebodysNumber } from '../here.ts';

const STEP_MS = 30_000;

/** Somebody who is signed in on `auth` and showed the app they have just added; the device knows no other code yet. */
async function withApp(here: Here) {
  const { user, session } = await here.signedIn();
  const factor = good(await here.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'app' }));
  const app = URI.parse(factor.totp.uri);
  if (!(app instanceof TOTP)) throw new Error('the address is not that of a TOTP key');
  const code = (stepsAhead: number) => app.generate({ timestamp: Date.now() + stepsAhead * STEP_MS });
  const challenge = good(await here.auth.mfa.challenge({ factorId: factor.id }));
  const first = { factorId: factor.id, challengeId: challenge.id, code: code(0) };
  const shown = good(await here.auth.mfa.verify(first));
  return { user, session, factor, first, shown, code };
}

/** A further device of theirs, on which only the password was given. */
async function passwordAlone({ device }: Here, email: string) {
  const auth = device();
  good(await auth.signInWithPassword({ email, password: PASSWORD }));
  return auth;
}

/** Second factors, from the first scan of a code to their end. */
export const factorCases: Cases = {
  async 'mfa.enroll'({ auth, signedIn }) {
    refused(await auth.mfa.enroll({ factorType: 'totp' }), 401, 'no_authorization');
    const { user } = await signedIn();
    const made = good(await auth.mfa.enroll({ factorType: 'totp', friendlyName: 'app', issuer: 'Croft' }));
    expect(made).toMatchObject({
      id: expect.any(String),
      type: 'totp',
      friendly_name: 'app',
      totp: {
        qr_code: expect.stringMatching(/^data:image\/svg\+xml;utf-8,<svg[\s\S]*<\/svg>\s*$/),
        secret: expect.stringMatching(/^[A-Z2-7]{32,}$/),
        uri: expect.stringMatching(/^otpauth:\/\/totp\/Croft/),
      },
    });
    expect(decodeURIComponent(made.totp.uri)).toContain(user.email);
    const again = await auth.mfa.enroll({ factorType: 'totp', friendlyName: 'app' });
    refused(again, 422, 'mfa_factor_name_conflict');
    const phone = somebodysNumber();
    const number = good(await auth.mfa.enroll({ factorType: 'phone', phone, friendlyName: 'number' }));
    expect(number).toMatchObject({ type: 'phone', phone, friendly_name: 'number' });
    // What was not shown yet counts for nothing.
    const { all, totp } = good(await auth.mfa.listFactors());
    expect(all.map(({ status }) => status)).toEqual(['unverified', 'unverified']);
    expect(totp).toEqual([]);
  },

  async 'mfa.challenge'({ auth, outside, signedIn }) {
    await signedIn();
    refused(await auth.mfa.challenge({ factorId: crypto.randomUUID() }), 404, 'mfa_factor_not_found');
    const phone = somebodysNumber();
    const { id: factorId } = good(await auth.mfa.enroll({ factorType: 'phone', phone }));
    const asked = good(await auth.mfa.challenge({ factorId, channel: 'sms' }));
    expect(asked).toMatchObject({ id: expect.any(String), type: 'phone' });
    expect(asked.expires_at).toBeGreaterThan(Date.now() / 1000);
    const code = await outside.sms(phone);
    good(await auth.mfa.verify({ factorId, challengeId: asked.id, code }));
    expect(good(await auth.mfa.listFactors()).phone).toMatchObject([{ id: factorId, status: 'verified' }]);
  },

  async 'mfa.verify'(here) {
    const { auth, signedIn } = here;
    const events: string[] = [];
    auth.onAuthStateChange((event) => void events.push(event));
    const { user, first, shown, factor } = await withApp(here);
    expect(events.at(-1)).toBe('MFA_CHALLENGE_VERIFIED');
    expect(shown).toMatchObject({ token_type: 'bearer', user: { id: user.id } });
    const { claims } = good(await auth.getClaims());
    expect(claims).toMatchObject({ aal: 'aal2', sub: user.id });
    expect(claims.amr).toEqual(
      expect.arrayContaining([expect.objectContaining({ method: 'totp' }), expect.anything()]),
    );
    expect(good(await auth.mfa.listFactors()).totp).toMatchObject([{ id: factor.id, status: 'verified' }]);
    // Neither the answered challenge nor its code is good for a second time.
    refused(await auth.mfa.verify(first), 422, 'mfa_factor_not_found');
    const again = good(await auth.mfa.challenge({ factorId: factor.id }));
    const replayed = { ...first, challengeId: again.id };
    refused(await auth.mfa.verify(replayed), 422, 'mfa_verification_failed');
    good(await auth.refreshSession());
    expect(good(await auth.getClaims()).claims.aal).toBe('aal2');
    // Nobody else gets anywhere with it.
    await signedIn();
    refused(await auth.mfa.verify(replayed), 404, 'mfa_factor_not_found');
  },

  async 'mfa.challengeAndVerify'(here) {
    const { user, factor, code } = await withApp(here);
    const auth = await passwordAlone(here, user.email);
    const wrong = code(1) === '000000' ? '111111' : '000000';
    refused(
      await auth.mfa.challengeAndVerify({ factorId: factor.id, code: wrong }),
      422,
      'mfa_verification_failed',
    );
    good(await auth.mfa.challengeAndVerify({ factorId: factor.id, code: code(1) }));
    expect(good(await auth.mfa.getAuthenticatorAssuranceLevel()).currentLevel).toBe('aal2');
  },

  async 'mfa.getAuthenticatorAssuranceLevel'(here) {
    const { user } = await withApp(here);
    const auth = await passwordAlone(here, user.email);
    const { currentLevel, nextLevel } = good(await auth.mfa.getAuthenticatorAssuranceLevel());
    expect([currentLevel, nextLevel]).toEqual(['aal1', 'aal2']);
    refused(await auth.updateUser({ password: 'another password' }), 401, 'insufficient_aal');
  },

  async 'mfa.unenroll'(here) {
    const { user, factor } = await withApp(here);
    const auth = await passwordAlone(here, user.email);
    refused(await auth.mfa.unenroll({ factorId: factor.id }), 422, 'insufficient_aal');
    expect(good(await here.auth.mfa.unenroll({ factorId: factor.id })).id).toBe(factor.id);
    expect(good(await here.auth.mfa.listFactors()).all).toEqual([]);
    good(await here.auth.refreshSession());
    expect(good(await here.auth.getClaims()).claims.aal).toBe('aal1');
  },

  async 'admin.mfa.listFactors'(here) {
    const { user, factor } = await withApp(here);
    const { factors } = good(await here.admin.admin.mfa.listFactors({ userId: user.id }));
    expect(factors).toMatchObject([
      { id: factor.id, factor_type: 'totp', status: 'verified', friendly_name: 'app' },
    ]);
    expect(JSON.stringify(factors)).not.toContain(factor.totp.secret);
    const unknown = await here.admin.admin.mfa.listFactors({ userId: crypto.randomUUID() });
    refused(unknown, 404, 'user_not_found');
    refused(await here.auth.admin.mfa.listFactors({ userId: user.id }), 401, 'no_authorization');
  },

  async 'admin.mfa.deleteFactor'(here) {
    const { user, factor } = await withApp(here);
    const named = { userId: user.id, id: factor.id };
    // The library puts the whole answer where its types have the factor.
    const { data } = await here.admin.admin.mfa.deleteFactor(named);
    expect(data).toEqual({ data: expect.objectContaining({ id: factor.id }), error: null });
    refused(await here.admin.admin.mfa.deleteFactor(named), 404, 'mfa_factor_not_found');
    expect(good(await here.auth.mfa.listFactors()).all).toEqual([]);
  },
};

/** What helps who lost the app. */
export const recoveryCodeCases: Cases = {
  async 'mfa.recoveryCodes.generate'(here) {
    const { auth } = here;
    const { user } = await withApp(here);
    const made = good(await auth.mfa.recoveryCodes.generate({ friendlyName: 'paper' }));
    expect(made).toMatchObject({ type: 'recovery_code', friendly_name: 'paper', total: made.codes.length });
    expect(new Set(made.codes).size).toBe(made.total);
    refused(await auth.mfa.recoveryCodes.generate(), 422, 'mfa_verified_factor_exists');
    const other = await passwordAlone(here, user.email);
    refused(await other.mfa.recoveryCodes.regenerate(), 403, 'insufficient_aal');
  },

  async 'mfa.recoveryCodes.getStatus'(here) {
    await withApp(here);
    refused(await here.auth.mfa.recoveryCodes.getStatus(), 404, 'mfa_factor_not_found');
    const { total } = good(await here.auth.mfa.recoveryCodes.generate());
    const status = good(await here.auth.mfa.recoveryCodes.getStatus());
    expect(status).toMatchObject({ type: 'recovery_code', total, remaining: total });
    const { recovery_code: shown } = good(await here.auth.mfa.listFactors());
    expect(shown).toMatchObject([{ id: status.id, status: 'verified' }]);
  },

  async 'mfa.recoveryCodes.verify'(here) {
    const { user } = await withApp(here);
    const { codes, total } = good(await here.auth.mfa.recoveryCodes.generate());
    const auth = await passwordAlone(here, user.email);
    const code = codes[0] ?? '';
    refused(await auth.mfa.recoveryCodes.verify({ code: 'wrong' }), 422, 'mfa_verification_failed');
    good(await auth.mfa.recoveryCodes.verify({ code }));
    expect(good(await auth.getClaims()).claims.aal).toBe('aal2');
    expect(good(await auth.mfa.recoveryCodes.getStatus()).remaining).toBe(total - 1);
    const thief = await passwordAlone(here, user.email);
    refused(await thief.mfa.recoveryCodes.verify({ code }), 422, 'mfa_verification_failed');
  },

  async 'mfa.recoveryCodes.regenerate'(here) {
    const { user } = await withApp(here);
    const { codes: old } = good(await here.auth.mfa.recoveryCodes.generate());
    const { codes } = good(await here.auth.mfa.recoveryCodes.regenerate());
    expect(codes.filter((code) => old.includes(code))).toEqual([]);
    const auth = await passwordAlone(here, user.email);
    const former = await auth.mfa.recoveryCodes.verify({ code: old[0] ?? '' });
    refused(former, 422, 'mfa_verification_failed');
    good(await auth.mfa.recoveryCodes.verify({ code: codes[0] ?? '' }));
  },

  async 'mfa.recoveryCodes.unenroll'(here) {
    await withApp(here);
    const { id } = good(await here.auth.mfa.recoveryCodes.generate());
    expect(good(await here.auth.mfa.recoveryCodes.unenroll()).id).toBe(id);
    refused(await here.auth.mfa.recoveryCodes.getStatus(), 404, 'mfa_factor_not_found');
  },
};
