import { expect, it } from 'vitest';
import { z } from 'zod';
import { emptyApp } from './sample-app.ts';

/** What a body is read as, or the status that refuses it. */
async function read(payload: string): Promise<unknown> {
  const app = await emptyApp();
  app.post('/', { schema: { body: z.unknown() } }, (request, reply) => reply.send(request.body));
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/', payload });
  await app.close();
  return statusCode === 200 ? JSON.parse(body) : statusCode;
}

const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

it('attack: a body that is too deep is refused, whatever the texts in it hold', async () => {
  expect(await read(nested(500))).toEqual(JSON.parse(nested(500)));
  for (const depth of [501, 5_000, 250_000]) {
    expect([depth, await read(nested(depth))]).toEqual([depth, 400]);
    expect([depth, await read(`{"a":${nested(depth)}}`)]).toEqual([depth, 400]);
  }
  expect(await read('{"a":'.repeat(501))).toBe(400);
  for (const text of ['['.repeat(1000), `\\"${'{'.repeat(1000)}`, `${'\\'.repeat(999)}"${'['.repeat(600)}`])
    expect(await read(JSON.stringify({ text }))).toEqual({ text });
  expect(await read(`"${'['.repeat(600)}`)).toBe(400);
});

it('attack: no prototype comes in, however it is spelled and wherever it stands', async () => {
  for (const key of ['__proto__', '\\u005f_proto__', '\\u005F\\u005fpro\\u0074o__'])
    expect(await read(`{"${key}":{"x":1},"a":[{"${key}":1,"b":{"${key}":[]}}]}`)).toEqual({ a: [{ b: {} }] });
  expect(await read('{"a":"__proto__"}')).toEqual({ a: '__proto__' });
});
