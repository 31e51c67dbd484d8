import { randomInt, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { PASSWORD, someone } from '../../harness.ts';
import { hashedNonce, signIdToken } from '../../support/issuer-emulator.ts';
import { ethereumWallet, messageFor, solanaWallet } from '../../support/wallets.ts';
import { APP, ISSUER_CLIENT } from '../fleet.ts';
import { arrive, type Cases, good, type Here, open, type Redirect, refused } from '../here.ts';
import { expectNobody, opensTo } from './sign-up.ts';

const NONCE = 'a nonce of the application';

/** A token of the issuer for somebody with that address. */
function idToken({ fleet }: Here, email: string): string {
  const [key] = fleet.issuers.keys;
  if (key === undefined) throw new Error('the issuer has no key');
  const now = Math.floor(Date.now() / 1000);
  return signIdToken(key, {
    iss: fleet.issuers.baseOf('google'),
    aud: ISSUER_CLIENT,
    sub: randomUUID(),
    iat: now,
    exp: now + 600,
    nonce: hashedNonce(NONCE),
    email,
    email_verified: true,
  });
}

const asApplication = (token: string) => ({ provider: 'google', token, nonce: NONCE });

/**
 * Goes to the provider and back. A browser of which the server does not know that the link was begun in it is asked first:
 * the library sends no cookies, so without a challenge that is every browser.
 */
async function linkAtProvider(here: Here, provider: string): Promise<Redirect> {
  const { fields } = here.fleet.providers.agree(provider);
  const callback = `${here.server.url}/callback`;
  const returned = `${callback}?${new URLSearchParams(fields).toString()}`;
  if (here.flow === 'pkce') return await open(returned);
  const page = await fetch(returned);
  const html = await page.text();
  const inputs = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  const body = new URLSearchParams();
  for (const [, name = '', value = ''] of inputs) body.set(name, value);
  return await open(callback, page.headers.get('set-cookie')?.split(';')[0], body);
}

/** Identities of others: their tokens, their signatures, and what is linked to an account. */
export const identityCases: Cases = {
  async signInWithIdToken(here) {
    const { auth } = here;
    const email = someone('token');
    const token = idToken(here, email);
    const answer = await auth.signInWithIdToken(asApplication(token));
    if (opensTo(here) === 'nobody') {
      expect(answer.error?.code).toBe('signup_disabled');
      return await expectNobody(here, email);
    }
    expect(good(answer).user).toMatchObject({ email, identities: [{ provider: 'google' }] });
    const { id } = good(await auth.getUser()).user;
    // The application that was given it may show it once more; nobody may with another nonce, or after a change.
    expect(good(await auth.signInWithIdToken(asApplication(token))).user.id).toBe(id);
    const other = await here.device().signInWithIdToken({ ...asApplication(token), nonce: 'x' });
    refused(other, 400, 'validation_failed');
    const [head, , signature] = token.split('.');
    const [, body] = idToken(here, someone()).split('.');
    const forged = asApplication(`${head}.${body}.${signature}`);
    refused(await here.device().signInWithIdToken(forged), 400, 'validation_failed');
  },

  async signInWithWeb3(here) {
    for (const wallet of [ethereumWallet(), solanaWallet()]) {
      const auth = here.device();
      const message = messageFor(wallet, { issuedAt: new Date() });
      const signature = wallet.sign(message);
      const answer =
        wallet.chain === 'ethereum'
          ? await auth.signInWithWeb3({ chain: 'ethereum', message, signature: signature as `0x${string}` })
          : await auth.signInWithWeb3({
              chain: 'solana',
              message,
              signature: new Uint8Array(Buffer.from(signature, 'base64url')),
            });
      if (opensTo(here) === 'nobody') {
        refused(answer, 422, 'signup_disabled');
        continue;
      }
      expect(good(answer).user.user_metadata['custom_claims']).toMatchObject({
        chain: wallet.chain,
        address: wallet.address,
      });
      good(await auth.getUser());
      // A message somebody saw is worth nothing.
      const replayed = { chain: 'ethereum', message, signature: signature as `0x${string}` } as const;
      if (wallet.chain === 'ethereum') {
        refused(await here.device().signInWithWeb3(replayed), 400, 'invalid_credentials');
      }
    }
  },

  async linkIdentity(here) {
    const { auth, fleet } = here;
    const { user } = await here.signedIn();
    const email = someone('linked');
    fleet.providers.somebody = { id: String(randomInt(2 ** 40)), email, verified: true, name: 'Ada' };
    const { url } = good(await auth.linkIdentity({ provider: 'github', options: { redirectTo: APP } }));
    const back = await linkAtProvider(here, url);
    expect(back.target.href.startsWith(APP)).toBe(true);
    expect((await arrive(here, auth, back)).user.id).toBe(user.id);
    const token = idToken(here, someone('linked'));
    const linked = good(await auth.linkIdentity(asApplication(token)));
    expect(linked.user?.id).toBe(user.id);
    const { identities } = good(await auth.getUserIdentities());
    expect(identities.map(({ provider }) => provider).sort()).toEqual(['email', 'github', 'google']);
    // Whose it is cannot be taken to somebody else.
    const other = here.device();
    const stranger = await here.person();
    good(await other.signInWithPassword({ email: stranger.email, password: PASSWORD }));
    refused(await other.linkIdentity(asApplication(token)), 422, 'identity_already_exists');
  },

  async unlinkIdentity(here) {
    const { auth } = here;
    await here.signedIn();
    const [only] = good(await auth.getUserIdentities()).identities;
    if (only === undefined) throw new Error('there is no identity');
    refused(await auth.unlinkIdentity(only), 422, 'single_identity_not_deletable');
    good(await auth.linkIdentity(asApplication(idToken(here, someone('linked')))));
    const linked = good(await auth.getUserIdentities()).identities.find(({ id }) => id !== only.id);
    if (linked === undefined) throw new Error('nothing was linked');
    // Nobody else's is touched.
    const stranger = here.device();
    const { email } = await here.person();
    good(await stranger.signInWithPassword({ email, password: PASSWORD }));
    good(await stranger.linkIdentity(asApplication(idToken(here, someone('linked')))));
    refused(await stranger.unlinkIdentity(linked), 422, 'identity_not_found');
    good(await auth.unlinkIdentity(linked));
    expect(good(await auth.getUserIdentities()).identities.map(({ id }) => id)).toEqual([only.id]);
  },
};
