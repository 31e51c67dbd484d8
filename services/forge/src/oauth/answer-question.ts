import { randomUUID } from 'node:crypto';
import { randomToken } from '@croft/runtime';
import { authenticate } from '../caller/authenticate.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { sha256 } from '../rules/oauth/code-challenge.ts';
import { withAnswer } from '../rules/oauth/redirect-uri.ts';
import * as grants from '../store/people/oauth-grants.ts';
import type { Question } from './read-question.ts';

/** A program presents its code at once (RFC 6749 §4.1.2: ten minutes at most). */
const CODE_MS = 5 * 60_000;

/** Who says yes. */
export interface Signature {
  name: string;
  password: string;
  /** Of the second factor; undefined while it was not asked for. */
  code: string | undefined;
  client: string | undefined;
}

/**
 * Lets a program act for whoever gave his password. There are no sessions here that another page could use.
 * @returns where to go with the code
 * @throws 401 for wrong ones, and where a code is missing or wrong, 403 for a personal token: it may have been made for less
 */
export async function allow(context: Context, question: Question, signature: Signature): Promise<string> {
  const { application, challenge, redirectUri, scopes, state } = question;
  const pair = Buffer.from(`${signature.name}:${signature.password}`).toString('base64');
  const { client, code: factorCode } = signature;
  const authorization = `Basic ${pair}`;
  const caller = await authenticate(context, { authorization, client, code: factorCode, isAskedAnew: true });
  if (caller === undefined || caller.scopes !== undefined) {
    throw forbidden('a personal access token is not enough here: a password is needed');
  }
  const code = randomToken(32);
  await grants.allow(
    context.database.autocommit(),
    { applicationId: application.id, userId: caller.userId, scopes },
    {
      hash: sha256(code),
      redirectUri: question.givenRedirectUri,
      challenge: challenge?.challenge ?? null,
      challengeMethod: challenge?.method ?? null,
      family: randomUUID(),
      expiresAt: new Date(context.clock.now().getTime() + CODE_MS),
    },
  );
  return withAnswer(redirectUri, { code, state });
}

/** Where to go when a person says no. */
export function deny({ redirectUri, state }: Question): string {
  return withAnswer(redirectUri, { error: 'access_denied', error_description: 'you were refused', state });
}
