import { createHash } from 'node:crypto';
import { type AccessTokenClaims, InvalidAccessToken } from '@croft/access-token';
import type { Context } from '../context.ts';
import { badCredentials, secondFactorNeeded, secondFactorWrong } from '../failures.ts';
import type { PasswordAnswer, PresentedPassword } from '../outside/password-check.ts';
import { isPersonalToken, readCredentials } from '../rules/access/credentials.ts';
import * as accessTokens from '../store/people/access-tokens.ts';
import * as users from '../store/people/users.ts';
import { type Caller, callerOf } from './caller.ts';
import { checkAccount, refreshAccount } from './check-account.ts';
import { findOrCreateAccount } from './find-or-create-account.ts';

/** Who asks, as far as a request shows it. */
export interface Credentials {
  /** The `Authorization` header. */
  authorization: string | undefined;
  /** Where the request comes from, proxies included, nearest last; the auth service counts wrong passwords by it. */
  client: string | undefined;
  /** The code of the second factor, beside a password. */
  code?: string | undefined;
  /** Whether the auth service is asked about a password whatever it said a moment ago. */
  isAskedAnew?: boolean;
}

/** What of a request authenticates, to git as well as to the API. */
export function credentialsOf(request: {
  headers: { authorization?: string | undefined; 'x-forwarded-for'?: string | string[] | undefined };
  socket: { remoteAddress?: string | undefined };
}): Credentials {
  const { authorization, 'x-forwarded-for': before } = request.headers;
  const chain = [before, request.socket.remoteAddress].flat().filter((address) => address !== undefined);
  return { authorization, client: chain.length === 0 ? undefined : chain.join(', ') };
}

/**
 * Who an `Authorization` header belongs to; undefined when there is none.
 * @throws 401 when it is there and is of no use, or not enough for who has a second factor, 403 when its owner was banned or deleted
 */
export async function authenticate(
  context: Context,
  { authorization, client, code, isAskedAnew = false }: Credentials,
): Promise<Caller | undefined> {
  const credentials = readCredentials(authorization);
  switch (credentials.kind) {
    case 'none':
      return undefined;
    case 'unusable':
      throw badCredentials();
    case 'token':
      return isPersonalToken(credentials.token)
        ? await byPersonalToken(context, credentials.token)
        : await byAccessToken(context, credentials.token);
    case 'pair':
      return await byPassword(context, credentials, { client, code, mayBeKnown: !isAskedAnew });
  }
}

/** How a personal access token is kept. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

async function byPersonalToken(context: Context, token: string): Promise<Caller> {
  const owner = await accessTokens.use(context.database.autocommit(), hashToken(token));
  if (owner === undefined) throw badCredentials();
  const { scopes, ...account } = owner;
  return callerOf(await checkAccount(context, account), scopes);
}

async function byAccessToken(context: Context, token: string): Promise<Caller> {
  return callerOf(await findOrCreateAccount(context, verified(context, token)));
}

async function byPassword(
  context: Context,
  { name, password }: { name: string; password: string },
  beside: Omit<PresentedPassword, 'email' | 'password'>,
): Promise<Caller> {
  const { passwords } = context.identity;
  if (passwords === undefined) throw badCredentials();
  const account = name.includes('@')
    ? undefined
    : await users.findByLogin(context.database.autocommit(), name);
  const person = account?.kind === 'person' ? account : undefined;
  // An unknown name is asked about all the same: the answer must not come sooner than for a wrong password.
  const email = person?.email || (name.includes('@') ? name : `${name}@unknown.invalid`);
  // His address may be another one by now. Side by side, so that a name that there is takes no longer than others.
  const [first, known] = await Promise.all([
    passwords.check({ email, password, ...beside }),
    person && refreshAccount(context, person),
  ]);
  const hasMoved = known !== undefined && known.email !== '' && known.email !== email;
  const answer =
    first.kind === 'wrong' && hasMoved
      ? await passwords.check({ email: known.email, password, ...beside })
      : first;
  const { token, isRemembered = false } = rightOf(answer);
  // What auth said a while ago is not news of the account.
  return callerOf(await findOrCreateAccount(context, verified(context, token), !isRemembered));
}

/**
 * Whoever has the right password is told that a code is missing, as the auth service tells him all the same: else its
 * owner would take it for wrong. Nobody else learns who has a second factor.
 */
function rightOf(answer: PasswordAnswer): Extract<PasswordAnswer, { kind: 'right' }> {
  switch (answer.kind) {
    case 'right':
      return answer;
    case 'wrong':
      throw badCredentials();
    case 'code-needed':
      throw secondFactorNeeded(answer.hasApp);
    case 'code-wrong':
      throw secondFactorWrong();
  }
}

function verified(context: Context, token: string): AccessTokenClaims {
  try {
    return context.identity.accessTokens.verify(token);
  } catch (error) {
    if (error instanceof InvalidAccessToken) throw badCredentials();
    throw error;
  }
}
