import { Failure, httpStatus } from '@croft/failure';
import { type App, pageHeaders, type QuestionPage, questionPage, type Reply, textsOf } from '@croft/http';
import { admit } from '../admit.ts';
import { apiCredentialsOf } from '../caller/api-credentials.ts';
import { credentialsOf } from '../caller/authenticate.ts';
import type { Context } from '../context.ts';
import { tokenRequired } from '../failures.ts';
import { describeScopes } from '../rules/oauth/wanted-scopes.ts';
import { userJson } from '../users/user-json.ts';
import { allow, deny } from './answer-question.ts';
import { exchangeGrant } from './exchange-grant.ts';
import { readClient } from './find-client.ts';
import { OauthRefusal } from './oauth-refusal.ts';
import { type Fields, type Question, readQuestion } from './read-question.ts';

const PREFIX = '/login/oauth';
/** What a program sent with its question, to come back with the answer. */
const ASKED = [
  'client_id',
  'redirect_uri',
  'response_type',
  'state',
  'scope',
  'code_challenge',
  'code_challenge_method',
];
const UNSTORED = { 'cache-control': 'no-store', pragma: 'no-cache' };
const hidden = { schema: { hide: true } };

/**
 * Signing in to other programs with an account here: OAuth 2.0 with codes and refresh tokens (RFC 6749, 7636, 8252), beside the API as
 * the reference has it. The one page of the forge asks for the password each time, so no other page can answer for somebody.
 */
export function signInRoutes(app: App, context: Context): void {
  app.get(`${PREFIX}/authorize`, hidden, async (request, reply) => {
    const reading = await readQuestion(context, textsOf(request.query));
    if ('refusal' in reading) return await reply.headers(UNSTORED).redirect(reading.refusal, 303);
    if ('dead' in reading) return await send(reply, 400, deadPage(reading.dead));
    return await send(reply, 200, pageFor(reading.question, textsOf(request.query)));
  });

  app.post(`${PREFIX}/grant`, { ...hidden, config: { form: true } }, async (request, reply) => {
    const fields = textsOf(request.body);
    const reading = await readQuestion(context, fields);
    if ('refusal' in reading) return await reply.headers(UNSTORED).redirect(reading.refusal, 303);
    if ('dead' in reading) return await send(reply, 400, deadPage(reading.dead));
    const { question } = reading;
    if (fields['decision'] !== 'allow') {
      return await reply.headers(UNSTORED).redirect(deny(question), 303);
    }
    const { user_name: name = '', password = '' } = fields;
    try {
      const { client } = credentialsOf(request);
      const location = await allow(context, question, { name, password, client });
      return await reply.headers(UNSTORED).redirect(location, 303);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // A browser would ask for a password by itself, and keep it.
      const status = error.kind === 'unauthenticated' ? 403 : httpStatus[error.kind];
      return await send(reply, status, pageFor(question, fields, error.message));
    }
  });

  app.post(`${PREFIX}/access_token`, { ...hidden, config: { form: true } }, async (request, reply) => {
    reply.headers({ ...UNSTORED, 'access-control-allow-origin': '*' });
    try {
      const fields = textsOf(request.body);
      const presented = readClient(request.headers.authorization, fields);
      return await reply.send(await exchangeGrant(context, fields, presented));
    } catch (error) {
      if (!(error instanceof OauthRefusal)) throw error;
      const isChallenged = error.code === 'invalid_client' && request.headers.authorization !== undefined;
      if (isChallenged) reply.header('www-authenticate', 'Basic realm="Croft"');
      return await reply
        .code(isChallenged ? 401 : 400)
        .send({ error: error.code, error_description: error.message });
    }
  });

  app.route({
    method: ['GET', 'POST'],
    url: `${PREFIX}/userinfo`,
    ...hidden,
    async handler(request, reply) {
      const needs = { access: 'caller', area: 'user', intent: 'read' } as const;
      const caller = await admit(context, needs, apiCredentialsOf(context, request));
      if (caller === undefined) throw tokenRequired();
      const { email, full_name: fullName, login } = userJson(caller.user, caller, context.links);
      return await reply.headers(UNSTORED).send({
        sub: String(caller.userId),
        name: fullName || login,
        preferred_username: login,
        email,
        picture: context.links.avatar(caller.userId),
      });
    },
  });

  app.get('/.well-known/oauth-authorization-server', hidden, async () => metadata(context.links.root));
}

/** RFC 8414 §2. */
const metadata = (root: string) => ({
  issuer: root,
  authorization_endpoint: `${root}${PREFIX}/authorize`,
  token_endpoint: `${root}${PREFIX}/access_token`,
  userinfo_endpoint: `${root}${PREFIX}/userinfo`,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256', 'plain'],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
});

/** The question that a person is asked, and why the last answer was of no use. */
function pageFor(question: Question, asked: Fields, complaint?: string): QuestionPage {
  const { application, redirectUri, scopes } = question;
  const { name, owner } = application;
  const { protocol, host } = new URL(redirectUri);
  const origin =
    owner === null ? 'Every forge of this kind knows it.' : `It was registered here by the account ${owner}.`;
  return questionPage(
    {
      heading: `Sign in to ${name}`,
      text: [
        ...(complaint === undefined ? [] : [`That did not work: ${complaint}.`]),
        `The application ${name} wants to know who you are and to act for you. ${origin}`,
        describeScopes(scopes),
        `You are sent to ${host === '' ? protocol : host} afterwards.`,
      ],
      action: 'grant',
      fields: Object.fromEntries(
        ASKED.flatMap((key) => (asked[key] === undefined ? [] : [[key, asked[key]]])),
      ),
      inputs: [
        {
          name: 'user_name',
          label: 'User name or e-mail address',
          isSecret: false,
          autocomplete: 'username',
          value: asked['user_name'] ?? '',
        },
        {
          name: 'password',
          label: 'Password, or an access token of the auth service',
          isSecret: true,
          autocomplete: 'current-password',
        },
      ],
      buttons: [
        { label: 'Allow', name: 'decision', value: 'allow' },
        { label: 'Do not allow', name: 'decision', value: 'deny' },
      ],
    },
    redirectUri,
  );
}

/** Told to a person, as the program cannot be. */
const deadPage = (reason: string): QuestionPage =>
  questionPage({ heading: 'This sign-in does not work', text: reason, action: '', buttons: [] }, undefined);

function send(reply: Reply, status: number, page: QuestionPage): Reply {
  return reply
    .code(status)
    .headers({ ...UNSTORED, ...pageHeaders(page) })
    .type('text/html; charset=utf-8')
    .send(page.html);
}
