import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { checkProfile, type Profile } from '../rules/access/profile.ts';
import * as users from '../store/people/users.ts';

/** What people decide about their accounts, on the wire. */
export const userSettingsSchema = z.object({
  full_name: z.string(),
  website: z.string(),
  description: z.string(),
  location: z.string(),
  language: z.string(),
  theme: z.string(),
  diff_view_style: z.string(),
  hide_email: z.boolean(),
  hide_activity: z.boolean(),
});

/** The settings of an account; there are no pages, so nothing is chosen about them. */
export function userSettingsJson(user: users.UserRow): z.output<typeof userSettingsSchema> {
  return {
    full_name: user.full_name,
    website: user.website,
    description: user.description,
    location: user.location,
    language: '',
    theme: '',
    diff_view_style: '',
    hide_email: user.hides_email,
    hide_activity: false,
  };
}

/** What somebody wants to be different; what is absent stays. */
export interface UserSettingsEdit extends Omit<Profile, 'email'> {
  hidesEmail?: boolean | undefined;
}

/**
 * Changes the caller's settings.
 * @throws 422
 */
export async function editUserSettings(
  { database }: Context,
  { user }: Caller,
  edit: UserSettingsEdit,
): Promise<users.UserRow> {
  checkProfile(edit);
  const after = await users.updateSettings(database.autocommit(), user.id, edit);
  if (after === undefined) throw notFound();
  return after;
}
