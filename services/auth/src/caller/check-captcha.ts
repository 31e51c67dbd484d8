import type { App, Request } from '@croft/http';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { lastField } from '../requests.ts';
import { grantOf } from './grant.ts';
import { verifyBearer } from './verify-bearer.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request needs the token of a solved puzzle; asked before its body is validated. */
    captcha?: boolean | ((request: Request) => boolean);
  }
}

/** More than any provider's token has. */
const MAX_TOKEN_CHARACTERS = 16_384;

/** Refuses requests without the token of a solved puzzle, by the `captcha` of the route's config. */
export function requireCaptcha(app: App, context: AuthContext): void {
  app.addHook('preValidation', async (request) => {
    const { captcha = false } = request.routeOptions.config;
    const isNeeded = typeof captcha === 'function' ? captcha(request) : captcha;
    if (!isNeeded) return;
    await checkCaptcha(context, request.body, request.clientAddress, request.headers.authorization);
  });
}

/** Grants that prove something no machine can guess. */
const GRANTS_WITHOUT_CAPTCHA: readonly unknown[] = ['refresh_token', 'pkce', 'id_token'];

/** `captcha` of POST /token: what is no known grant needs a token. */
export function grantNeedsCaptcha(request: Request): boolean {
  return !GRANTS_WITHOUT_CAPTCHA.includes(grantOf(request));
}

/**
 * Asks the CAPTCHA service about the token in a body, where `SECURITY_CAPTCHA_ENABLED` wants it. The token stands in
 * `gotrue_meta_security.captcha_token`, where clients put it, or in `captcha_token`, where the contract has it.
 * Administrators need none.
 * @param body parsed, but not validated
 * @throws Failure `captcha_failed`; `unexpected_failure` when the service gives no verdict
 */
export async function checkCaptcha(
  context: AuthContext,
  body: unknown,
  ip: string | null,
  authorization: string | undefined,
): Promise<void> {
  const { captcha } = context.outside;
  if (captcha === undefined || isAdministrator(context, authorization)) return;
  const token = tokenIn(body);
  if (token === '') throw failures.captchaTokenMissing();
  if (token.length > MAX_TOKEN_CHARACTERS) throw failures.captchaRefused(['invalid-input-response']);
  const refusal = await captcha.refusalOf(token, ip).catch((error: unknown) => {
    throw failures.captchaUnavailable(error);
  });
  if (refusal !== undefined) throw failures.captchaRefused(refusal);
}

function tokenIn(body: unknown): string {
  const places = [lastField(body, 'gotrue_meta_security'), body];
  const tokens = places.map((place) => lastField(place, 'captcha_token'));
  const token = tokens.find((one): one is string => typeof one === 'string' && one.trim() !== '');
  return token?.trim() ?? '';
}

/** Whether the bearer is one by signature and role; a session that ended meanwhile gains nothing but this. */
function isAdministrator(context: AuthContext, authorization: string | undefined): boolean {
  if (authorization === undefined) return false;
  try {
    return context.settings.JWT_ADMIN_ROLES.includes(verifyBearer(context, authorization).role ?? '');
  } catch {
    return false;
  }
}
