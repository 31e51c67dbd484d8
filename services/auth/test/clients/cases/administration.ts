import { expect } from 'vitest';
import { PASSWORD, someone } from '../../support/people.ts';
import { type Cases, fragmentOf, good, refused, sessionOf } from '../here.ts';

/** What servers of the operator do with a token of theirs. */
export const administrationCases: Cases = {
  async 'admin.createUser'({ auth, admin }) {
    const [id, email] = [crypto.randomUUID(), someone()];
    const { user } = good(
      await admin.admin.createUser({
        id,
        email,
        password: PASSWORD,
        email_confirm: true,
        user_metadata: { name: 'Ada' },
        app_metadata: { team: 'one' },
        role: 'editor',
      }),
    );
    expect(user).toMatchObject({
      id,
      email,
      role: 'editor',
      user_metadata: { name: 'Ada' },
      app_metadata: { team: 'one', provider: 'email' },
    });
    expect(good(await auth.signInWithPassword({ email, password: PASSWORD })).user.id).toBe(id);
    refused(await admin.admin.createUser({ email }), 422, 'email_exists');
    // People are no administrators, and strangers even less.
    refused(await auth.admin.createUser({ email: someone() }), 401, 'no_authorization');
  },

  async 'admin.listUsers'({ admin, person }) {
    const made = [await person(), await person()];
    const { users, total, aud, nextPage } = good(await admin.admin.listUsers({ page: 1, perPage: 1 }));
    expect(users).toHaveLength(1);
    expect(aud).toBe('authenticated');
    expect(total).toBeGreaterThanOrEqual(2);
    expect(nextPage).toBe(2);
    const all = good(await admin.admin.listUsers({ perPage: 1000 })).users.map(({ id }) => id);
    expect(all).toEqual(expect.arrayContaining(made.map(({ id }) => id)));
  },

  async 'admin.getUserById'({ admin, auth, person }) {
    const { id, email } = await person();
    expect(good(await admin.admin.getUserById(id)).user).toMatchObject({ id, email });
    refused(await admin.admin.getUserById(crypto.randomUUID()), 404, 'user_not_found');
    await expect(admin.admin.getUserById('no id')).rejects.toThrow('UUID');
    refused(await auth.admin.getUserById(id), 401, 'no_authorization');
  },

  async 'admin.updateUserById'({ admin, auth, signedIn }) {
    const { user } = await signedIn();
    const email = someone('renamed');
    const { user: changed } = good(
      await admin.admin.updateUserById(user.id, {
        email,
        email_confirm: true,
        password: 'another password',
        app_metadata: { team: 'two' },
        ban_duration: '1h',
      }),
    );
    expect(changed).toMatchObject({ email, app_metadata: { team: 'two' }, banned_until: expect.any(String) });
    refused(await auth.signInWithPassword({ email, password: 'another password' }), 400, 'user_banned');
    good(await admin.admin.updateUserById(user.id, { ban_duration: 'none' }));
    good(await auth.signInWithPassword({ email, password: 'another password' }));
    refused(await admin.admin.updateUserById(crypto.randomUUID(), { email }), 404, 'user_not_found');
  },

  async 'admin.deleteUser'({ admin, auth, person, signedIn }) {
    const { user } = await signedIn();
    expect(good(await admin.admin.deleteUser(user.id)).user?.id).toBe(user.id);
    expect((await auth.getUser()).error?.status).toBe(403);
    refused(await admin.admin.getUserById(user.id), 404, 'user_not_found');
    const other = await person();
    good(await admin.admin.deleteUser(other.id, true));
    refused(
      await auth.signInWithPassword({ email: other.email, password: PASSWORD }),
      400,
      'invalid_credentials',
    );
  },

  async 'admin.inviteUserByEmail'({ admin, app, auth, outside }) {
    const email = someone('invited');
    const options = { data: { team: 'one' }, redirectTo: app };
    const { user } = good(await admin.admin.inviteUserByEmail(email, options));
    expect(user).toMatchObject({ email, invited_at: expect.any(String), user_metadata: { team: 'one' } });
    // Whoever accepts does so elsewhere, so there is no verifier in any flow.
    const target = await outside.visit((await outside.mail(email)).link);
    expect(target.href.startsWith(app)).toBe(true);
    const fragment = fragmentOf(target);
    const [access_token, refresh_token] = ['access_token', 'refresh_token'].map(
      (name) => fragment.get(name) ?? '',
    );
    const session = await auth.setSession({
      access_token: access_token ?? '',
      refresh_token: refresh_token ?? '',
    });
    expect(sessionOf(good(session)).user.email).toBe(email);
    good(await auth.updateUser({ password: PASSWORD }));
    refused(await admin.admin.inviteUserByEmail(email), 422, 'email_exists');
  },

  async 'admin.generateLink'({ admin, app, auth, outside, person, device }) {
    const { id, email } = await person();
    const options = { redirectTo: app };
    const { properties, user } = good(await admin.admin.generateLink({ type: 'magiclink', email, options }));
    expect(user?.id).toBe(id);
    expect(properties).toMatchObject({
      verification_type: 'magiclink',
      redirect_to: app,
      email_otp: expect.stringMatching(/^\d{6}$/),
      action_link: expect.stringContaining('/verify?'),
    });
    const { hashed_token: hash } = properties;
    expect(sessionOf(good(await auth.verifyOtp({ type: 'magiclink', token_hash: hash }))).user.id).toBe(id);
    const invited = good(await admin.admin.generateLink({ type: 'invite', email: someone() }));
    expect(invited.properties.verification_type).toBe('invite');
    const signUp = {
      type: 'signup',
      email: someone(),
      password: PASSWORD,
      options: { data: { a: 1 } },
    } as const;
    const made = good(await admin.admin.generateLink(signUp));
    expect(made.user?.user_metadata).toMatchObject({ a: 1 });
    good(await device().verifyOtp({ type: 'signup', token_hash: made.properties.hashed_token ?? '' }));
    const newEmail = someone('new');
    const moved = good(await admin.admin.generateLink({ type: 'email_change_new', email, newEmail }));
    expect(moved.properties.verification_type).toBe('email_change_new');
    expect(await outside.waiting(email)).toBe(0);
  },

  async 'admin.signOut'({ admin, auth, signedIn, device }) {
    const { user, session } = await signedIn();
    const other = device();
    good(await other.signInWithPassword({ email: user.email, password: PASSWORD }));
    expect(await admin.admin.signOut(session.access_token, 'others')).toEqual({ data: null, error: null });
    expect((await other.getUser()).error?.name).toBe('AuthSessionMissingError');
    good(await auth.getUser());
    expect((await admin.admin.signOut(session.access_token)).error).toBeNull();
    expect((await auth.getUser()).error?.name).toBe('AuthSessionMissingError');
  },
};
