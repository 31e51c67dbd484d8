import { expect } from 'vitest';
import { PASSWORD } from '../../support/people.ts';
import { base64url, type Cases, good, refused, sessionOf } from '../here.ts';

/** What a session can do, and how it ends. */
export const sessionCases: Cases = {
  async initialize({ auth, device }) {
    expect(await auth.initialize()).toEqual({ error: null });
    // Without a session that is over at once.
    expect(await device().initialize()).toEqual({ error: null });
  },

  async isThrowOnErrorEnabled({ auth }) {
    expect(auth.isThrowOnErrorEnabled()).toBe(false);
  },

  async getSession({ auth, signedIn }) {
    expect(await auth.getSession()).toEqual({ data: { session: null }, error: null });
    const { session } = await signedIn();
    expect(good(await auth.getSession()).session?.access_token).toBe(session.access_token);
  },

  async getUser({ auth, admin, signedIn, device }) {
    const { user, session } = await signedIn();
    expect(good(await auth.getUser()).user.id).toBe(user.id);
    expect(good(await device().getUser(session.access_token)).user.email).toBe(user.email);
    refused(await device().getUser(`${session.access_token}x`), 403, 'bad_jwt');
    await admin.admin.deleteUser(user.id);
    // A user that is gone is no session to the library, which forgets it.
    const { error } = await auth.getUser();
    expect(error?.status).toBe(403);
  },

  async setSession({ auth, signedIn, device }) {
    const { user, session } = await signedIn();
    const other = device();
    const { access_token, refresh_token } = session;
    expect(good(await other.setSession({ access_token, refresh_token })).user?.id).toBe(user.id);
    expect(sessionOf(good(await other.refreshSession())).refresh_token).not.toBe(refresh_token);
    // The one it was taken from gets the same child.
    expect(sessionOf(good(await auth.refreshSession())).user.id).toBe(user.id);
    const invented = { access_token, refresh_token: 'invented' };
    expect(good(await device().setSession(invented)).session?.refresh_token).toBe('invented');
  },

  async refreshSession({ auth, signedIn, device }) {
    const { user, session } = await signedIn();
    const [one, other] = await Promise.all([auth.refreshSession(), auth.refreshSession()]);
    expect(sessionOf(good(one)).refresh_token).toBe(sessionOf(good(other)).refresh_token);
    const child = sessionOf(good(await auth.refreshSession()));
    expect([child.user.id, child.refresh_token === session.refresh_token]).toEqual([user.id, false]);
    const events: string[] = [];
    auth.onAuthStateChange((event) => void events.push(event));
    // The token of the sign-in is two generations old by now: a thief's.
    const thief = await device().refreshSession({ refresh_token: session.refresh_token });
    refused(thief, 400, 'refresh_token_already_used');
    refused(await auth.refreshSession(), 400, 'refresh_token_already_used');
    refused(await device().refreshSession({ refresh_token: 'invented' }), 400, 'refresh_token_not_found');
  },

  async signOut({ auth, signedIn, device }) {
    const { user } = await signedIn();
    const [laptop, phone] = [device(), device()];
    for (const one of [laptop, phone]) {
      good(await one.signInWithPassword({ email: user.email, password: PASSWORD }));
    }
    expect(await laptop.signOut({ scope: 'local' })).toEqual({ error: null });
    expect((await laptop.getSession()).data.session).toBeNull();
    good(await phone.getUser());
    expect(await auth.signOut({ scope: 'others' })).toEqual({ error: null });
    expect((await phone.getUser()).error?.name).toBe('AuthSessionMissingError');
    good(await auth.getUser());
    expect(await auth.signOut()).toEqual({ error: null });
    expect((await auth.getSession()).data.session).toBeNull();
    // Signing out twice is no error.
    expect(await auth.signOut()).toEqual({ error: null });
  },

  async onAuthStateChange({ auth, signedIn }) {
    const events: string[] = [];
    const { data } = auth.onAuthStateChange((event) => void events.push(event));
    await auth.initialize();
    await signedIn();
    good(await auth.refreshSession());
    good(await auth.updateUser({ data: { color: 'blue' } }));
    await auth.signOut();
    data.subscription.unsubscribe();
    expect(events).toEqual(['INITIAL_SESSION', 'SIGNED_IN', 'TOKEN_REFRESHED', 'USER_UPDATED', 'SIGNED_OUT']);
  },

  async startAutoRefresh({ auth, signedIn }) {
    const { session } = await signedIn();
    // As it lies in storage of somebody who comes back late.
    const soon = { ...session, expires_at: Math.round(Date.now() / 1000) + 5 };
    const storage = Reflect.get(auth, 'storage') as { setItem(key: string, value: string): void };
    storage.setItem(String(Reflect.get(auth, 'storageKey')), JSON.stringify(soon));
    const refreshed = new Promise<string>((resolve) => {
      auth.onAuthStateChange((event, now) => {
        if (event === 'TOKEN_REFRESHED') resolve(now?.refresh_token ?? '');
      });
    });
    await auth.startAutoRefresh();
    const token = await refreshed;
    await auth.stopAutoRefresh();
    expect(token).not.toBe(session.refresh_token);
    expect(good(await auth.getSession()).session?.refresh_token).toBe(token);
  },

  async stopAutoRefresh({ auth, signedIn }) {
    const { session } = await signedIn();
    await auth.startAutoRefresh();
    await auth.stopAutoRefresh();
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
    expect(good(await auth.getSession()).session?.refresh_token).toBe(session.refresh_token);
  },

  async dispose({ auth, signedIn }) {
    await signedIn();
    await auth.startAutoRefresh();
    expect(await auth.dispose()).toBeUndefined();
  },

  async getClaims({ auth, server, signedIn, device }) {
    const { user, session } = await signedIn();
    const { claims, header } = good(await auth.getClaims());
    expect(claims).toMatchObject({
      sub: user.id,
      aud: 'authenticated',
      role: 'authenticated',
      email: user.email,
      aal: 'aal1',
      amr: [{ method: 'password', timestamp: expect.any(Number) }],
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      is_anonymous: false,
    });
    const signsAlone = server.configuration === 'asymmetric keys';
    expect(header.alg).toBe(signsAlone ? 'ES256' : 'HS256');
    await auth.signOut();
    // With a public key nobody is asked; with the shared secret only the server can tell.
    const later = await device().getClaims(session.access_token);
    if (signsAlone) expect(good(later).claims.sub).toBe(user.id);
    else expect(later.error?.name).toBe('AuthSessionMissingError');
    const [head, , signature] = session.access_token.split('.');
    const forged = base64url(JSON.stringify({ ...claims, role: 'service_role' }));
    const answer = await device().getClaims(`${head}.${forged}.${signature}`);
    expect([answer.data, answer.error === null]).toEqual([null, false]);
  },
};
