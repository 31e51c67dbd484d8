import { accessTokens } from '@croft/access-token';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Answer,
  bearer,
  confirmedUser,
  JWT_SECRET,
  PASSWORD,
  readMail,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';

/** The document as far as these tests read it. */
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: Record<string, unknown> };
}
interface Operation {
  summary?: string;
  tags?: string[];
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string; required?: boolean }[];
  responses: Record<string, { description?: string; content?: Record<string, { schema?: object }> }>;
}

let subject: Subject;
let document: Document;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' });
  document = JSON.parse((await subject.get('/openapi.json')).text) as Document;
});
afterAll(() => subject[Symbol.asyncDispose]());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );

/** What is wrong with an answer by the document; undefined when nothing is. */
function contradiction(method: string, path: string, answer: Answer): string | undefined {
  const documented = document.paths[path]?.[method]?.responses[answer.status];
  if (documented === undefined)
    return `${method} ${path}: ${answer.status} is not documented: ${answer.text}`;
  const schema = documented.content?.['application/json']?.schema;
  if (schema === undefined || answer.text === '') return undefined;
  const read = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(answer.body);
  return read.success ? undefined : `${method} ${path} ${answer.status}: ${z.prettifyError(read.error)}`;
}

/** Sends a request and holds its answer against the document. */
async function send(
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
  on: Subject = subject,
): Promise<Answer> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const answer = await on.send(method.toUpperCase(), path, payload, headers);
  expect(contradiction(method, path.split('?', 1)[0] ?? '', answer)).toBeUndefined();
  return answer;
}

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const verdict = await new Validator().validate(
      structuredClone(document) as object as Record<string, unknown>,
    );
    expect(verdict.errors).toBeUndefined();
    expect(verdict.valid).toBe(true);
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  test('and a broken one is not: the validator looks', async () => {
    const broken = structuredClone(document) as unknown as { paths: Record<string, unknown> };
    broken.paths['/settings'] = { get: { responses: 'none' } };
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  test('says of every endpoint what it is for, what it answers, and declares what its path names', () => {
    const faults = operations().flatMap(({ method, path, operation }) => {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((one) => one.in === 'path');
      return [
        operation.summary === undefined && 'no summary',
        (operation.tags ?? []).length === 0 && 'no tag',
        !Object.keys(operation.responses).some((status) => /^[23]/.test(status)) && 'no answer but refusals',
        Object.values(operation.responses).some(({ description }) => description === undefined) &&
          'an answer without a description',
        declared.some(({ required }) => required !== true) && 'a path parameter that is not required',
        JSON.stringify(declared.map(({ name }) => name).sort()) !== JSON.stringify(named.sort()) &&
          'path parameters are not those of the path',
        (operation.security ?? []).some((one) =>
          Object.keys(one).some((name) => !(name in document.components.securitySchemes)),
        ) && 'an unknown security scheme',
      ].flatMap((fault) => (fault === false ? [] : [`${method} ${path}: ${fault}`]));
    });
    expect(faults).toEqual([]);
  });

  test('a schema it gives can refuse: the comparison looks', () => {
    const answer = { status: 200, body: { version: 1 }, text: '{"version":1}', headers: {} };
    expect(contradiction('get', '/health', answer)).toMatch(/version/);
    expect(contradiction('get', '/health', { ...answer, status: 418 })).toMatch(/not documented/);
  });
});

describe('answers are as documented', () => {
  test('of the open endpoints', async () => {
    for (const path of ['/settings', '/health', '/ready', '/.well-known/jwks.json'])
      expect((await send('get', path)).status).toBe(200);
  });

  test('from sign-up to sign-out', async () => {
    const email = someone();
    expect((await send('post', '/signup', { email, password: PASSWORD, data: { name: 'Ada' } })).status).toBe(
      200,
    );
    const { token } = readMail(
      (await subject.mails()).findLast(({ headers }) => headers.get('to')?.includes(email)),
    );
    const verified = await send('post', '/verify', { type: 'signup', token_hash: token });
    expect(verified.status).toBe(200);
    const session = await send('post', '/token?grant_type=password', { email, password: PASSWORD });
    expect(session.status).toBe(200);
    const { refresh_token } = session.body;
    expect((await send('post', '/token?grant_type=refresh_token', { refresh_token })).status).toBe(200);
    expect((await send('get', '/user', undefined, bearer(session))).status).toBe(200);
    expect((await send('post', '/logout', undefined, bearer(session))).status).toBe(204);
    expect((await send('get', '/user', undefined, bearer(session))).status).toBe(403);
  });

  test('of everything that sends a mail', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    subject.clock.advance(3_600_000); // past every limit of an address
    expect((await send('post', '/recover', { email })).status).toBe(200);
    expect((await send('post', '/magiclink', { email: someone() })).status).toBe(200);
    expect((await send('post', '/otp', { email: someone() })).status).toBe(200);
    expect((await send('post', '/resend', { type: 'signup', email })).status).toBe(200);
    expect((await send('post', '/recover', { email })).status).toBe(429);
  });

  test('of the account', async () => {
    const session = await confirmedUser(subject);
    const change = { data: { color: 'blue' }, email: someone('new') };
    expect((await send('put', '/user', change, bearer(session))).body['new_email']).toBe(change.email);
    expect((await send('get', '/reauthenticate', undefined, bearer(session))).status).toBe(200);
    expect((await send('put', '/user', { app_metadata: { a: 1 } }, bearer(session))).status).toBe(403);
    expect((await send('post', '/signup', {})).body.user?.['is_anonymous']).toBe(true);
  });

  test('of administration', async () => {
    const now = subject.clock.now().getTime();
    const claims = { role: 'service_role', exp: Math.floor(now / 1000) + 600 };
    const headers = { authorization: `Bearer ${accessTokens(JWT_SECRET, () => now).sign(claims)}` };
    const made = await send('post', '/admin/users', { email: someone(), email_confirm: true }, headers);
    expect(made.status).toBe(200);
    const changed = await subject.send(
      'PUT',
      `/admin/users/${made.body.id}`,
      '{"ban_duration":"1h"}',
      headers,
    );
    expect([changed.status, contradiction('put', '/admin/users/{user_id}', changed)]).toEqual([
      200,
      undefined,
    ]);
    expect((await send('post', '/invite', { email: someone() }, headers)).status).toBe(200);
    for (const type of ['magiclink', 'recovery', 'invite', 'signup']) {
      const email = type === 'recovery' ? made.body['email'] : someone();
      const link = await send('post', '/admin/generate_link', { type, email, password: PASSWORD }, headers);
      expect([type, link.status]).toEqual([type, 200]);
    }
    expect((await send('post', '/admin/users', {}, headers)).status).toBe(400);
    expect((await send('post', '/admin/users', { email: made.body['email'] }, headers)).status).toBe(422);
  });

  test('of refusals, in both shapes', async () => {
    for (const headers of [{}, { 'x-supabase-api-version': '2024-01-01' }]) {
      expect((await send('post', '/signup', { email: 'none', password: PASSWORD }, headers)).status).toBe(
        400,
      );
      expect((await send('post', '/signup', { email: someone(), password: 'x' }, headers)).status).toBe(422);
      const wrong = { email: someone(), password: 'x' };
      expect((await send('post', '/token?grant_type=password', wrong, headers)).status).toBe(400);
      expect((await send('post', '/verify', { type: 'signup', token_hash: 'x' }, headers)).status).toBe(403);
      expect((await send('get', '/user', undefined, headers)).status).toBe(401);
    }
  });

  test('of every endpoint to what makes no sense, and never by 500', async () => {
    const before = await subject.snapshot();
    const contradictions: string[] = [];
    const bodies = [
      undefined,
      '{}',
      '[]',
      'null',
      '{"email":',
      '{"email":5,"phone":{},"type":[],"data":"x"}',
    ];
    const tokens = [undefined, 'Bearer x', 'Basic eDp5', `Bearer ${'a.'.repeat(4000)}`];
    for (const { method, path } of operations()) {
      for (const body of method === 'get' ? [undefined] : bodies) {
        for (const authorization of tokens) {
          const at = path.replace(/\{\w+\}/g, 'not-an-id');
          const headers = authorization === undefined ? undefined : { authorization };
          // An empty sign-up makes an anonymous user, and is meant to.
          if (path === '/signup' && (body === '{}' || body === 'null' || body === undefined)) continue;
          const answer = await subject.send(method.toUpperCase(), at, body, headers);
          const found = contradiction(method, path, answer);
          if (found !== undefined) contradictions.push(`${found} (to ${body})`);
          if (answer.status >= 500) contradictions.push(`${method} ${path}: ${answer.status} to ${body}`);
        }
      }
    }
    expect(contradictions).toEqual([]);
    expect(await subject.snapshot()).toBe(before);
  });
});
