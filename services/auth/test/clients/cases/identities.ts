import { expect } from 'vitest';
import { PASSWORD, someone } from '../../support/people.ts';
import { arrive, bytesOf, type Cases, good, type Here, refused } from '../here.ts';
import { expectNobody, opensTo } from './sign-up.ts';

const NONCE = 'a nonce of the application';

/** What an application shows that was given a token of Google's for somebody with that address. */
async function byGoogle({ outside }: Here, email: string) {
  return { provider: 'google', token: await outside.idToken(email, NONCE), nonce: NONCE };
}

/**
 * Goes to the provider and back. A browser of which the server does not know that the link was begun in it is asked first:
 * the library sends no cookies, so without a challenge that is every browser.
 */
async function linkAtProvider({ flow, outside }: Here, provider: string, email: string): Promise<URL> {
  const callback = await outside.agree(provider, email);
  return flow === 'pkce' ? await outside.visit(callback) : await outside.consent(callback);
}

/** Identities of others: their tokens, their signatures, and what is linked to an account. */
export const identityCases: Cases = {
  async signInWithIdToken(here) {
    const { auth } = here;
    const email = someone('token');
    const shown = await byGoogle(here, email);
    const answer = await auth.signInWithIdToken(shown);
    if (opensTo(here) === 'nobody') {
      expect(answer.error?.code).toBe('signup_disabled');
      return await expectNobody(here, email);
    }
    expect(good(answer).user).toMatchObject({ email, identities: [{ provider: 'google' }] });
    const { id } = good(await auth.getUser()).user;
    // The application that was given it may show it once more; nobody may with another nonce, or after a change.
    expect(good(await auth.signInWithIdToken(shown)).user.id).toBe(id);
    const other = await here.device().signInWithIdToken({ ...shown, nonce: 'x' });
    refused(other, 400, 'validation_failed');
    const [head, , signature] = shown.token.split('.');
    const [, body] = (await byGoogle(here, someone())).token.split('.');
    const forged = { ...shown, token: `${head}.${body}.${signature}` };
    refused(await here.device().signInWithIdToken(forged), 400, 'validation_failed');
  },

  async signInWithWeb3(here) {
    for (const chain of ['ethereum', 'solana'] as const) {
      const auth = here.device();
      const { address, message, signature } = await here.outside.signedMessage(chain);
      const answer =
        chain === 'ethereum'
          ? await auth.signInWithWeb3({ chain: 'ethereum', message, signature: signature as `0x${string}` })
          : await auth.signInWithWeb3({ chain: 'solana', message, signature: bytesOf(signature) });
      if (opensTo(here) === 'nobody') {
        refused(answer, 422, 'signup_disabled');
        continue;
      }
      expect(good(answer).user.user_metadata['custom_claims']).toMatchObject({ chain, address });
      good(await auth.getUser());
      // A message somebody saw is worth nothing.
      const replayed = { chain: 'ethereum', message, signature: signature as `0x${string}` } as const;
      if (chain === 'ethereum') {
        refused(await here.device().signInWithWeb3(replayed), 400, 'invalid_credentials');
      }
    }
  },

  async linkIdentity(here) {
    const { auth, app } = here;
    const { user } = await here.signedIn();
    const options = { redirectTo: app, skipBrowserRedirect: true };
    const { url } = good(await auth.linkIdentity({ provider: 'github', options }));
    const back = await linkAtProvider(here, url, someone('linked'));
    expect(back.href.startsWith(app)).toBe(true);
    expect((await arrive(here, auth, back)).user.id).toBe(user.id);
    const shown = await byGoogle(here, someone('linked'));
    const linked = good(await auth.linkIdentity(shown));
    expect(linked.user?.id).toBe(user.id);
    const { identities } = good(await auth.getUserIdentities());
    expect(identities.map(({ provider }) => provider).sort()).toEqual(['email', 'github', 'google']);
    // Whose it is cannot be taken to somebody else.
    const other = here.device();
    const stranger = await here.person();
    good(await other.signInWithPassword({ email: stranger.email, password: PASSWORD }));
    refused(await other.linkIdentity(shown), 422, 'identity_already_exists');
  },

  async unlinkIdentity(here) {
    const { auth } = here;
    await here.signedIn();
    const [only] = good(await auth.getUserIdentities()).identities;
    if (only === undefined) throw new Error('there is no identity');
    refused(await auth.unlinkIdentity(only), 422, 'single_identity_not_deletable');
    good(await auth.linkIdentity(await byGoogle(here, someone('linked'))));
    const linked = good(await auth.getUserIdentities()).identities.find(({ id }) => id !== only.id);
    if (linked === undefined) throw new Error('nothing was linked');
    // Nobody else's is touched.
    const stranger = here.device();
    const { email } = await here.person();
    good(await stranger.signInWithPassword({ email, password: PASSWORD }));
    good(await stranger.linkIdentity(await byGoogle(here, someone('linked'))));
    refused(await stranger.unlinkIdentity(linked), 422, 'identity_not_found');
    good(await auth.unlinkIdentity(linked));
    expect(good(await auth.getUserIdentities()).identities.map(({ id }) => id)).toEqual([only.id]);
  },
};
