import { type Database, type Deliver, PermanentFailure } from '@croft/sql';
import { userJson } from '../account/user-json.ts';
import type { Hook } from '../outside/hooks/hook.ts';
import * as users from '../store/users.ts';
import { askHook } from './ask-hook.ts';

/** The payload of a creation's outbox row (topic `user_created`), for whom it is told to. */
export interface CreationNotice {
  userId: string;
  /** Of the client whose request made the user. */
  ip: string | null;
}

/** Tells the hook `after_user_created` of a user as it is by then; one that is gone again is not spoken of. */
export function creationEffect(database: Database, hook: Hook | undefined): Deliver {
  return async (row) => {
    // It was on when the row was written.
    if (hook === undefined) throw new PermanentFailure('the hook after_user_created is off');
    const { userId } = row.payload as CreationNotice;
    const person = await users.findById(database.autocommit(), userId);
    if (person !== undefined) await askHook(hook, row, { user: userJson(person) });
  };
}
