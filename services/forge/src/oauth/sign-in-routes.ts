import { Failure, httpStatus } from '@croft/failure';
import { type App, PAGE_HEADERS, type Page, type Reply, type Request, textsOf } from '@croft/http';
import { credentialsOf } from '../caller/authenticate.ts';
import type { Context } from '../context.ts';
import { isLoopback } from '../rules/oauth/redirect-uri.ts';
import { allow, deny } from './answer-question.ts';
import { OAUTH_PATHS } from './oauth-paths.ts';
import { readQuestion } from './read-question.ts';
import { answerPage, askingPage, codePage, deadPage, refusalPage } from './sign-in-pages.ts';
import { beginStep, takeStep } from './sign-in-step.ts';

const UNSTORED = { 'cache-control': 'no-store', pragma: 'no-cache' };
const STEP_IS_OVER = 'this sign-in took too long, or was answered already; begin anew';
/** After these whoever gave the right password types a code again. */
const TRIED_AGAIN = new Set(['second_factor_wrong', 'too_many_passwords', 'auth_unreachable']);
const hidden = { schema: { hide: true } };

/**
 * Signing in to other programs with an account here: OAuth 2.0 with codes and refresh tokens (RFC 6749, 7636, 8252), beside the API as
 * the reference has it. The one page of the forge asks for the password each time, and for a code where its owner has a second factor, so
 * no other page can answer for somebody.
 */
export function signInRoutes(app: App, context: Context): void {
  app.get(OAUTH_PATHS.authorize, hidden, async (request, reply) => {
    const asked = textsOf(request.query);
    const reading = await readQuestion(context, asked);
    if ('dead' in reading) return await send(reply, 400, deadPage(reading.dead));
    if ('question' in reading) return await send(reply, 200, askingPage(reading.question, asked));
    // A program on the person's own machine waits for it, and nobody else is to be found there.
    if (isLoopback(reading.location)) return await reply.headers(UNSTORED).redirect(reading.location, 303);
    return await send(reply, 400, refusalPage(reading));
  });

  app.post(OAUTH_PATHS.grant, { ...hidden, config: { form: true } }, async (request, reply) => {
    const fields = textsOf(request.body);
    const reading = await readQuestion(context, fields);
    if ('dead' in reading) return await send(reply, 400, deadPage(reading.dead));
    if (!('question' in reading)) return await send(reply, 400, refusalPage(reading));
    const { question } = reading;
    const { step } = fields;
    const { client } = credentialsOf(request);
    // Whatever is decided, it is used up.
    const begun = step === undefined ? undefined : await takeStep(context, question, step);
    if (fields['decision'] !== 'allow') {
      return await send(reply, 200, answerPage(question, deny(question), isFromHere(request)));
    }
    if (step !== undefined && begun === undefined)
      return await send(reply, 403, askingPage(question, fields, STEP_IS_OVER));
    const { user_name: name = '', password = '', code = '' } = fields;
    const signature = begun === undefined ? { name, password, code: undefined } : { ...begun, code };
    try {
      const location = await allow(context, question, { ...signature, client });
      return await send(reply, 200, answerPage(question, location, true));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.retryAfterSeconds !== undefined)
        reply.header('retry-after', String(Math.ceil(error.retryAfterSeconds)));
      // A browser would ask for a password by itself, and keep it.
      const status = error.kind === 'unauthenticated' ? 403 : httpStatus[error.kind];
      const isFirst = begun === undefined && error.code === 'second_factor_needed';
      if (!isFirst && (begun === undefined || !TRIED_AGAIN.has(error.code)))
        return await send(reply, status, askingPage(question, fields, error.message));
      const next = await beginStep(context, question, signature);
      const complaint = isFirst ? undefined : error.message;
      return await send(reply, isFirst ? 200 : status, codePage(question, fields, next, complaint));
    }
  });

  app.get('/.well-known/oauth-authorization-server', hidden, async () => metadata(context.links.root));
}

/** RFC 8414 §2. */
const metadata = (root: string) => ({
  issuer: root,
  authorization_endpoint: root + OAUTH_PATHS.authorize,
  token_endpoint: root + OAUTH_PATHS.token,
  userinfo_endpoint: root + OAUTH_PATHS.userinfo,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256', 'plain'],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
});

/** Whether our own page sent the form, as far as browsers tell: others could send people on with it. */
const isFromHere = ({ headers }: Request) =>
  headers['sec-fetch-site'] === undefined || headers['sec-fetch-site'] === 'same-origin';

const send = (reply: Reply, status: number, page: Page): Reply =>
  reply
    .code(status)
    .headers({ ...UNSTORED, ...PAGE_HEADERS })
    .send(page);
