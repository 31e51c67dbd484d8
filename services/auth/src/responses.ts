import type { App } from '@croft/http';
import { z } from 'zod';

// The shapes answers are documented with in OpenAPI; the `*-json.ts` files make them.

const time = z.iso.datetime().meta({ description: 'RFC 3339, UTC' });
const metadata = z.record(z.string(), z.unknown());

/** An identity of a user. */
export const identityBody = z
  .object({
    identity_id: z.string(),
    id: z.string(),
    user_id: z.string(),
    identity_data: metadata,
    provider: z.string(),
    last_sign_in_at: time.optional(),
    created_at: time,
    updated_at: time,
    email: z.string().optional(),
  })
  .meta({ title: 'Identity' });

/** A second factor of a user. */
export const factorBody = z
  .object({
    id: z.string(),
    created_at: time,
    updated_at: time,
    status: z.enum(['unverified', 'verified']),
    friendly_name: z.string().optional(),
    factor_type: z.enum(['totp', 'phone', 'webauthn', 'recovery_code']),
    phone: z.string().optional(),
    last_challenged_at: time.optional(),
  })
  .meta({ title: 'Factor' });

/** A user. */
export const userBody = z
  .object({
    id: z.string(),
    aud: z.string(),
    role: z.string(),
    email: z.string(),
    email_confirmed_at: time.optional(),
    invited_at: time.optional(),
    phone: z.string(),
    phone_confirmed_at: time.optional(),
    confirmation_sent_at: time.optional(),
    confirmed_at: time.optional(),
    recovery_sent_at: time.optional(),
    new_email: z.string().optional(),
    email_change_sent_at: time.optional(),
    new_phone: z.string().optional(),
    phone_change_sent_at: time.optional(),
    reauthentication_sent_at: time.optional(),
    last_sign_in_at: time.optional(),
    app_metadata: metadata,
    user_metadata: metadata,
    factors: z.array(factorBody).optional(),
    identities: z.array(identityBody),
    created_at: time,
    updated_at: time,
    banned_until: time.optional(),
    is_anonymous: z.boolean(),
  })
  .meta({ title: 'User' });

/** The answer to every sign-in and refresh. */
export const sessionBody = z
  .object({
    access_token: z.string(),
    token_type: z.literal('bearer'),
    expires_in: z.int().meta({ description: 'seconds' }),
    expires_at: z.int().meta({ description: 'seconds since the epoch' }),
    refresh_token: z.string(),
    user: userBody,
    type: z.string().optional(),
    provider_token: z.string().optional(),
    provider_refresh_token: z.string().optional(),
    weak_password: z
      .object({ message: z.string(), reasons: z.array(z.enum(['length', 'characters', 'pwned'])) })
      .optional(),
  })
  .meta({ title: 'Session' });

const weakness = z.object({ reasons: z.array(z.string()) });

/** Any refusal: the first shape by default, the second with `X-Supabase-Api-Version: 2024-01-01`. */
export const errorBody = z
  .union([
    z.object({
      code: z.int(),
      error_code: z.string(),
      msg: z.string(),
      error_id: z.string().optional(),
      weak_password: weakness.optional(),
    }),
    z.object({ code: z.string(), message: z.string(), weak_password: weakness.optional() }),
  ])
  .meta({ title: 'Error' });

/** What any request can be refused with: an operator's wrong token, a bug, a database that is away, too long a time. */
const always = { 401: errorBody, 500: errorBody, 503: errorBody, 504: errorBody };

/** Declares what a route can answer because of what stands before it; routes declare what they answer themselves. */
export function declareRefusals(app: App): void {
  app.addHook('onRoute', (route) => {
    const { method, schema, config } = route;
    if (schema?.response === undefined) return;
    route.schema = {
      ...schema,
      response: {
        ...always,
        ...(config?.limit === undefined ? {} : { 429: errorBody }),
        ...(method === 'GET' ? {} : { 400: errorBody, 413: errorBody }),
        ...schema.response,
      },
    };
  });
}
