import { z } from 'zod';
import { joinedScopes } from '../rules/oauth/wanted-scopes.ts';
import type { ApplicationRow } from '../store/people/oauth-applications.ts';
import type { GrantRow } from '../store/people/oauth-grants.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** An OAuth2 application on the wire. */
export const applicationSchema = z.object({
  id: z.int(),
  name: z.string(),
  client_id: z.string(),
  client_secret: z.string().describe('in the answer that makes it and nowhere else'),
  confidential_client: z.boolean(),
  skip_secondary_authorization: z.boolean(),
  redirect_uris: z.array(z.string()),
  created: timeSchema,
});

/** The secret is shown once, when it is made. */
export function applicationJson(row: ApplicationRow, secret = ''): z.output<typeof applicationSchema> {
  return {
    id: row.id,
    name: row.name,
    client_id: row.client_id,
    client_secret: secret,
    confidential_client: row.is_confidential,
    skip_secondary_authorization: row.skips_consent,
    redirect_uris: row.redirect_uris,
    created: wireTime(row.created_at),
  };
}

/** What somebody allowed an application: an addition to the reference, which shows it on its pages only. */
export const grantSchema = z.object({
  id: z.int(),
  application: z.object({ name: z.string(), client_id: z.string() }),
  scopes: z.array(z.string()),
  created_at: timeSchema,
  updated_at: timeSchema,
});

/** A grant on the wire. */
export function grantJson(row: GrantRow): z.output<typeof grantSchema> {
  return {
    id: row.id,
    application: { name: row.name, client_id: row.client_id },
    scopes: joinedScopes(row.scope_sets),
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
  };
}
