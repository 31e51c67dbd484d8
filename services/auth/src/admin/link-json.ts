import { z } from 'zod';
import { userJson } from '../account/user-json.ts';
import { userBody } from '../responses.ts';
import type { GeneratedLink } from './generate-link.ts';

/** A generated link: the user, and beside its members those of the link. */
export const linkBody = userBody
  .extend({
    action_link: z.string(),
    email_otp: z.string(),
    hashed_token: z.string(),
    verification_type: z.string(),
    redirect_to: z.string(),
  })
  .meta({ title: 'GeneratedLink' });

/** Renders a generated link. */
export function linkJson(link: GeneratedLink): z.infer<typeof linkBody> {
  return {
    ...userJson(link.person),
    action_link: link.url,
    email_otp: link.code,
    hashed_token: link.token,
    verification_type: link.type,
    redirect_to: link.redirectTo,
  };
}
