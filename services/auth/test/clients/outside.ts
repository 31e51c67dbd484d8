import { randomInt, randomUUID } from 'node:crypto';
import { hashedNonce, signIdToken } from '../support/issuer-emulator.ts';
import { ethereumWallet, messageFor, solanaWallet } from '../support/wallets.ts';
import type { Browsing } from './browsing.ts';
import { type Fleet, ISSUER_CLIENT, type Server } from './fleet.ts';

/** What a test needs besides its clients: what others send, know and sign. */
export interface Outside extends Browsing {
  /** The next mail to an address; waits for it. */
  mail(to: string): Promise<{ link: string; code: string }>;
  /** The code of the next text message to a number. */
  sms(to: string): Promise<string>;
  /** How many messages to somebody nobody has looked at yet. */
  waiting(to: string): Promise<number>;
  /** An ID token of Google's for somebody with that address, made for who has the nonce. */
  idToken(email: string, nonce: string): Promise<string>;
  /** Somebody with that address agrees at a provider; where they are sent back to. */
  agree(provider: string, email: string): Promise<string>;
  /** A message of the application, signed by a wallet nobody has seen. */
  signedMessage(
    chain: 'ethereum' | 'solana',
  ): Promise<{ address: string; message: string; signature: string }>;
}

/** The surroundings of a server. */
export function outsideOf(fleet: Fleet, server: Server, app: string, browsing: Browsing): Outside {
  return {
    ...browsing,
    async mail(to) {
      const { link, code } = await fleet.post.mail(to);
      return { link: link.href, code };
    },
    sms: (to) => fleet.post.sms(to),
    waiting: (to) => fleet.post.waiting(to),
    async idToken(email, nonce) {
      const [key] = fleet.issuers.keys;
      if (key === undefined) throw new Error('the issuer has no key');
      const now = Math.floor(Date.now() / 1000);
      return signIdToken(key, {
        iss: fleet.issuers.baseOf('google'),
        aud: ISSUER_CLIENT,
        sub: randomUUID(),
        iat: now,
        exp: now + 600,
        nonce: hashedNonce(nonce),
        email,
        email_verified: true,
      });
    },
    async agree(provider, email) {
      fleet.providers.somebody = { id: String(randomInt(2 ** 40)), email, verified: true, name: 'Ada' };
      const { fields } = fleet.providers.agree(provider);
      return `${server.url}/callback?${new URLSearchParams(fields).toString()}`;
    },
    async signedMessage(chain) {
      const wallet = chain === 'ethereum' ? ethereumWallet() : solanaWallet();
      const { host: domain, href: uri } = new URL(app);
      const message = messageFor(wallet, { domain, uri, issuedAt: new Date() });
      return { address: wallet.address, message, signature: wallet.sign(message) };
    },
  };
}
