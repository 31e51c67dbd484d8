import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import * as follows from '../store/people/follows.ts';
import { findPerson } from '../users/find-user.ts';

/**
 * Lets the caller follow a person; of himself nothing is noted, as in the reference.
 * @throws 404
 */
export async function followPerson(context: Context, caller: Caller, login: string): Promise<void> {
  const person = await findPerson(context, login);
  await follows.add(context.database.autocommit(), caller.userId, person.id);
}

/**
 * Lets the caller follow a person no longer.
 * @throws 404
 */
export async function unfollowPerson(context: Context, caller: Caller, login: string): Promise<void> {
  const person = await findPerson(context, login);
  await follows.remove(context.database.autocommit(), caller.userId, person.id);
}

/** @throws 404 unless somebody follows the person */
export async function checkFollowing(context: Context, followerId: number, login: string): Promise<void> {
  const person = await findPerson(context, login);
  if (!(await follows.exists(context.database.autocommit(), followerId, person.id))) throw notFound();
}
