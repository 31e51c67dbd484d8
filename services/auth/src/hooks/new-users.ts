import type { Tx } from '@croft/sql';
import type { AuthContext } from '../context.ts';
import type { CreationNotice } from '../effects/creation.ts';
import * as users from '../store/users.ts';

/**
 * Asks the hook `before_user_created` whether a user may come to be; nothing when it is off. Where an answer must not
 * tell whether an address has an account, this goes before the look for one.
 * @throws RefusedByHook, or the Failure that says why it gave no answer
 */
export async function askBeforeUserCreated(
  context: AuthContext,
  user: Omit<users.NewUser, 'trace'>,
  { ip }: { ip: string | null },
): Promise<void> {
  const hook = context.outside.hooks.before_user_created;
  if (hook === undefined) return;
  await hook({ user: newUserJson(user, context.clock.now()) }, { ip });
}

/** Makes a user; the hook `after_user_created` hears of it if, and only if, one was made. */
export function insertUser(context: AuthContext, tx: Tx, user: users.NewUser): Promise<users.Inserted> {
  return users.insert(tx, { ...user, notice: creationNoticeFor(context, user.id, user.trace) });
}

/** What the outbox keeps of a creation; undefined when no hook is to hear of it. */
export function creationNoticeFor(
  { outside }: AuthContext,
  userId: string,
  { ip }: { ip: string | null },
): CreationNotice | undefined {
  if (outside.hooks.after_user_created === undefined) return undefined;
  return { userId, ip };
}

/** The user as it will be, in the spelling of the protocol. It has no identities yet, and nothing that happened. */
function newUserJson(user: Omit<users.NewUser, 'trace'>, now: Date): object {
  const at = now.toISOString().replace('Z', '000Z');
  return {
    id: user.id,
    aud: user.aud,
    role: user.role,
    email: user.email ?? '',
    ...(user.emailConfirmed ? { email_confirmed_at: at } : {}),
    phone: user.phone ?? '',
    ...(user.phoneConfirmed ? { phone_confirmed_at: at } : {}),
    app_metadata: user.appMetadata,
    user_metadata: user.userMetadata,
    identities: [],
    created_at: at,
    updated_at: at,
    is_anonymous: user.isAnonymous,
  };
}
