import { expect } from 'vitest';
import { PASSWORD, someone } from '../../support/people.ts';
import { arrive, type Cases, good, type Here, refused, sessionOf, somebodysNumber } from '../here.ts';

/** Whether the server takes new people at all, and at their word. */
export const opensTo = ({ server }: Here): 'nobody' | 'whoever proves' | 'everybody' => {
  if (server.configuration === 'no sign-up') return 'nobody';
  return server.configuration === 'confirmation' ? 'whoever proves' : 'everybody';
};

/** Nobody has that address. */
export async function expectNobody({ admin }: Here, email: string): Promise<void> {
  const { users } = good(await admin.admin.listUsers({ perPage: 1000 }));
  expect(users.map((user) => user.email)).not.toContain(email);
}

/** People who come for the first time. */
export const signUpCases: Cases = {
  async signUp(here) {
    const { app, auth, outside } = here;
    const email = someone();
    const options = { data: { name: 'Ada' }, emailRedirectTo: app };
    const answer = await auth.signUp({ email, password: PASSWORD, options });
    if (opensTo(here) === 'nobody') {
      refused(answer, 422, 'signup_disabled');
      return await expectNobody(here, email);
    }
    const { user, session } = good(answer);
    expect(user).toMatchObject({ email, user_metadata: { name: 'Ada' }, aud: 'authenticated' });
    if (opensTo(here) === 'everybody') {
      expect(session?.user.id).toBe(user?.id);
    } else {
      expect(session).toBeNull();
      refused(await auth.signInWithPassword({ email, password: PASSWORD }), 400, 'email_not_confirmed');
      const back = await outside.visit((await outside.mail(email)).link);
      expect(back.href.startsWith(app)).toBe(true);
      await arrive(here, auth, back);
    }
    expect(good(await auth.getUser()).user).toMatchObject({ id: user?.id, email });
    // Whoever tries again is told only where it is no secret: else the answer is that of the first time.
    const again = await here.device().signUp({ email, password: PASSWORD });
    if (opensTo(here) === 'everybody') refused(again, 422, 'user_already_exists');
    else
      expect(good(again)).toMatchObject({
        user: { email, identities: [{ provider: 'email' }] },
        session: null,
      });
    await signUpWithPhone(here);
    expect(await auth.signUp({ email, password: '123' }).then(({ error }) => error)).toMatchObject({
      name: 'AuthWeakPasswordError',
      reasons: ['length'],
    });
  },

  async signInAnonymously(here) {
    const answer = await here.auth.signInAnonymously({ options: { data: { color: 'blue' } } });
    if (opensTo(here) === 'nobody') return refused(answer, 422, 'signup_disabled');
    const { user } = good(answer);
    expect(user).toMatchObject({ is_anonymous: true, user_metadata: { color: 'blue' } });
    const claims = good(await here.auth.getClaims()).claims;
    expect(claims).toMatchObject({ is_anonymous: true, sub: user?.id });
  },

  async resend(here) {
    const { app, auth, outside } = here;
    const [email, phone] = [someone(), somebodysNumber()];
    if (opensTo(here) !== 'whoever proves') {
      // The answer is the same as for an address that waits; nothing is sent.
      good(await auth.resend({ type: 'signup', email }));
      expect(await outside.waiting(email)).toBe(0);
      return;
    }
    await auth.signUp({ email, password: PASSWORD });
    await outside.mail(email);
    good(await auth.resend({ type: 'signup', email, options: { emailRedirectTo: app } }));
    await arrive(here, auth, await outside.visit((await outside.mail(email)).link));
    await here.device().signUp({ phone, password: PASSWORD });
    await outside.sms(phone);
    const { messageId } = good(await auth.resend({ type: 'sms', phone }));
    expect(messageId).toEqual(expect.any(String));
    const token = await outside.sms(phone);
    good(await auth.verifyOtp({ type: 'sms', phone, token }));
  },
};

async function signUpWithPhone(here: Here): Promise<void> {
  const phone = somebodysNumber();
  const auth = here.device();
  const { session } = good(await auth.signUp({ phone, password: PASSWORD }));
  if (opensTo(here) === 'whoever proves') {
    expect(session).toBeNull();
    const token = await here.outside.sms(phone);
    expect(sessionOf(good(await auth.verifyOtp({ type: 'sms', phone, token }))).user.phone).toBe(phone);
  } else {
    expect(session?.user.phone).toBe(phone);
  }
  good(await auth.signInWithPassword({ phone, password: PASSWORD }));
}
