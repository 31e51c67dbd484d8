import type { Context } from '../context.ts';
import type { Signature } from '../outside/git/objects.ts';
import type { UserRow } from '../store/people/users.ts';
import { publicAddress } from './user-json.ts';

/** Somebody as the commits and tags that are made for him name him, now. */
export function signatureOf({ links, clock }: Pick<Context, 'links' | 'clock'>, user: UserRow): Signature {
  return { name: user.full_name || user.login, email: publicAddress(user, links), at: clock.now() };
}
