import { afterAll, beforeEach } from 'vitest';
import { type Answer, type Subject, someone, startSubject } from '../harness.ts';
import { hashedNonce, type IssuerKey, signIdToken, startIssuerEmulator } from './issuer-emulator.ts';

export const NONCE = 'a nonce of the application';
/** The client id of the provider that every test's token is meant for. */
export const clientOf = (name: string): string => `client of ${name}`;

/** Claims a test adds, or takes away with undefined. */
export type Claims = Record<string, unknown>;

/** A service that takes ID tokens of issuers on loopback. */
export async function idTokenSubject(environment: Record<string, string> = {}) {
  const issuers = await startIssuerEmulator();
  const provider = (id: string) => ({
    [`AUTHSVC_EXTERNAL_${id}_ENABLED`]: 'true',
    [`AUTHSVC_EXTERNAL_${id}_CLIENT_ID`]: `${clientOf(id.toLowerCase())}, second client of ${id.toLowerCase()}`,
    [`AUTHSVC_EXTERNAL_${id}_SECRET`]: 'secret',
    [`AUTHSVC_EXTERNAL_${id}_REDIRECT_URI`]: 'https://auth.example/callback',
    [`AUTHSVC_EXTERNAL_${id}_URL`]: issuers.baseOf(id.toLowerCase()),
  });
  const subject = await startSubject({
    ...['APPLE', 'AZURE', 'FACEBOOK', 'GOOGLE', 'KAKAO', 'KEYCLOAK'].reduce(
      (all, id) => Object.assign(all, provider(id)),
      {},
    ),
    AUTHSVC_EXTERNAL_IOS_BUNDLE_ID: 'example.app',
    AUTHSVC_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: `${issuers.baseOf('corporate')} web mobile`,
    ...environment,
  });
  beforeEach(() => {
    issuers.asked.length = 0;
    issuers.instead.clear();
  });
  afterAll(async () => {
    await subject[Symbol.asyncDispose]();
    await issuers[Symbol.asyncDispose]();
  });
  let last = 1000;
  const seconds = (on: Subject) => Math.floor(on.clock.now().getTime() / 1000);
  const claimsOf = (name: string, more: Claims = {}, on = subject): Claims => ({
    iss: issuers.baseOf(name),
    aud: clientOf(name),
    sub: String(++last),
    iat: seconds(on),
    exp: seconds(on) + 600,
    nonce: hashedNonce(NONCE),
    email: someone(),
    email_verified: true,
    name: 'Ada Lovelace',
    ...more,
  });
  const key = (): IssuerKey => issuers.keys[0] as IssuerKey;
  return {
    issuers,
    subject,
    claimsOf,
    key,
    /** A good token of a provider, but for what the test changes. */
    tokenOf: (name: string, more: Claims = {}, header: object = {}) =>
      signIdToken(key(), claimsOf(name, more), header),
    present: (
      token: string,
      body: Record<string, unknown> = {},
      headers: Record<string, string> = {},
    ): Promise<Answer> =>
      subject.post(
        '/token?grant_type=id_token',
        { provider: 'google', id_token: token, nonce: NONCE, ...body },
        headers,
      ),
  };
}
