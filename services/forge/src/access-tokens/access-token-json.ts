import { z } from 'zod';
import type { AccessTokenRow } from '../store/people/access-tokens.ts';
import { timeSchema } from '../wire-schemas.ts';
import { NO_TIME, wireTime } from '../wire-time.ts';

/** A personal access token on the wire. */
export const accessTokenSchema = z.object({
  id: z.int(),
  name: z.string(),
  sha1: z.string().describe('the token itself, in the answer that makes it and nowhere else'),
  token_last_eight: z.string(),
  scopes: z.array(z.string()),
  created_at: timeSchema,
  last_used_at: timeSchema,
});

/** The token is shown once, when it is made. */
export function accessTokenJson(row: AccessTokenRow, secret = ''): z.output<typeof accessTokenSchema> {
  return {
    id: row.id,
    name: row.name,
    sha1: secret,
    token_last_eight: row.last_eight,
    scopes: row.scopes,
    created_at: wireTime(row.created_at),
    last_used_at: row.last_used_at === null ? NO_TIME : wireTime(row.last_used_at),
  };
}
