import { randomBytes, randomUUID } from 'node:crypto';
import { type Sealing, Secret, sealing } from '@croft/settings';
import type { Context } from '../context.ts';
import * as steps from '../store/people/oauth-steps.ts';
import type { Question } from './read-question.ts';

/** Whose password was right. */
export interface Proven {
  name: string;
  password: string;
}

/** Time to find the telephone. */
const STEP_MS = 5 * 60_000;

/**
 * Begins the second step of a sign-in, which asks for a code.
 *
 * The auth service takes the code in a session that the password opens, and a session that waited would take the place of others of
 * the same person. So the password is shown once more with the code, and what the page carries of it is sealed: for this question
 * alone, and with a key that goes with its first use.
 * @returns what the page carries
 */
export async function beginStep(context: Context, question: Question, proven: Proven): Promise<string> {
  const id = randomUUID();
  const key = randomBytes(32);
  const expiresAt = new Date(context.clock.now().getTime() + STEP_MS);
  await steps.insert(context.database.autocommit(), { id, key, expiresAt });
  const sealed = sealingFor(key, question).seal(JSON.stringify([proven.name, proven.password]));
  return `${id}.${sealed.toString('base64url')}`;
}

/** Who began a step; undefined when it was begun for another question, was used, has expired or is none. */
export async function takeStep(
  context: Context,
  question: Question,
  carried: string,
): Promise<Proven | undefined> {
  const [, id, sealed = ''] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]+)$/.exec(carried) ?? [];
  if (id === undefined) return undefined;
  const key = await steps.take(context.database.autocommit(), id);
  if (key === undefined) return undefined;
  try {
    const opened = sealingFor(key, question).open(Buffer.from(sealed, 'base64url'));
    const [name, password] = JSON.parse(opened) as [string, string];
    return { name, password };
  } catch {
    return undefined;
  }
}

/** What was allowed at the first step is what is allowed at the second. */
function sealingFor(
  key: Buffer,
  { application, redirectUri, givenRedirectUri, state, scopes, challenge }: Question,
): Sealing {
  const asked = [application.client_id, redirectUri, givenRedirectUri, state, scopes, challenge];
  return sealing(new Secret(key.toString('base64')), `a step of ${JSON.stringify(asked)}`);
}
