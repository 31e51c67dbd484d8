import { silentLog } from '@croft/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { providerIds } from '../src/rules/external/provider-ids.ts';
import { type Subject, someone, startSubject } from './harness.ts';
import { leave, type Redirected, signInWith } from './support/external-flow.ts';
import {
  ACCESS_TOKEN,
  json,
  type ProviderEmulator,
  startProviderEmulator,
} from './support/provider-emulator.ts';
import { shapes } from './support/provider-shapes.ts';

// Whatever a provider answers, the browser is back at its application with a session or a documented refusal, and what
// was no answer to a question of ours is no bug of ours: nothing is logged as one.

const ids = providerIds.filter((id) => id !== 'twitter');
let emulator: ProviderEmulator;
let subject: Subject;
const bugs: object[] = [];
beforeAll(async () => {
  emulator = await startProviderEmulator();
  const log = { ...silentLog, error: (fields: object) => void bugs.push(fields) };
  subject = await startSubject(emulator.settings(...providerIds), { ...log, child: () => log });
});
beforeEach(() => {
  bugs.length = 0;
  emulator.instead.clear();
  emulator.tamper = {};
});
afterAll(async () => {
  await subject[Symbol.asyncDispose]();
  await emulator[Symbol.asyncDispose]();
});

const HALF = '\ud800';
const LONG = 'x'.repeat(60_000);
const JUNK: readonly unknown[] = [
  null,
  '',
  'a\0b',
  7,
  -1e308,
  true,
  [],
  [null, [[]], HALF],
  {},
  { toString: 1, __proto__: null, length: -1 },
];

/** Copies of a JSON value, each with something else in place of one of its members. */
function* spoiled(value: unknown, replacements: () => readonly unknown[]): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const at = (other: unknown) =>
      Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
    for (const other of replacements()) yield at(other);
    for (const other of spoiled(member, replacements)) yield at(other);
  }
}

/** Every member with everything would be thousands of sign-ins: each gets the worst texts and one more. */
function sample(value: unknown): unknown[] {
  let turn = 0;
  return [...JUNK, HALF, LONG, ...spoiled(value, () => [HALF, LONG, JUNK[turn++ % JUNK.length]])];
}

let last = 0;
function become(): void {
  const email = someone();
  emulator.somebody = { id: `9${++last}`, email, verified: true, name: 'Ada Lovelace' };
}

const REFUSALS =
  /^(Error getting user (profile|email) from external provider|Unable to exchange external code: )/;

const rows = async () =>
  await subject.rows.autocommit().row`
    select (select count(*) from :schema.users) as users, (select count(*) from :schema.identities) as identities,
      (select count(*) from :schema.sessions) as sessions, (select count(*) from :schema.one_time_tokens) as codes,
      (select count(*) from :schema.flow_state) as flows, (select count(*) from :schema.outbox) as effects`;

/** Nothing else than a session or a refusal in words of ours came of it. */
function isAnswered(answer: Redirected, about: unknown): void {
  const told = JSON.stringify(about)?.slice(0, 200);
  expect([answer.status, new URL(answer.location).origin, told]).toEqual([302, 'https://site.example', told]);
  expect([answer.location.length > 40_000, told]).toEqual([false, told]);
  if (answer.fragment.has('access_token')) return;
  // An address nobody vouches for is asked.
  if (answer.query.get('error_code') === 'provider_email_needs_verification') return;
  expect([answer.query.get('error'), told]).toEqual(['server_error', told]);
  expect(answer.query.get('error_description')).toMatch(REFUSALS);
}

async function withAnswers(
  id: (typeof providerIds)[number],
  answers: readonly unknown[],
  put: (answer: unknown) => void,
) {
  for (const answer of answers) {
    become();
    put(answer);
    const before = await rows();
    const back = await signInWith(subject, emulator, id, { connection: 'conn_1' });
    isAnswered(back, answer);
    if (back.query.get('error') === 'server_error') expect(await rows()).toEqual(before);
    expect([bugs, JSON.stringify(answer)?.slice(0, 200)]).toEqual([[], expect.anything()]);
  }
}

describe.each(ids)('%s', (id) => {
  const shape = shapes[id];

  test('profiles', async () => {
    become();
    for (const [path, normal] of Object.entries(shape.profile(emulator.somebody))) {
      const place = `${id}${path.replace(/\?.*/, '')}`;
      await withAnswers(id, sample(normal), (answer) => emulator.instead.set(place, json(answer)));
      emulator.instead.clear();
    }
  });

  test('claims', async () => {
    const { claims: claimsOf } = shape;
    if (claimsOf === undefined) return;
    const normal = claimsOf(emulator.somebody, emulator.baseOf(id));
    const answers = sample(normal).filter((one) => typeof one === 'object' && one !== null);
    await withAnswers(id, answers, (answer) => {
      emulator.tamper = {
        claims: (claims) => {
          for (const name of Object.keys(normal)) delete claims[name];
          Object.assign(claims, answer);
        },
      };
    });
  });

  test('tokens', async () => {
    const normal = {
      access_token: ACCESS_TOKEN,
      refresh_token: 'refresh',
      id_token: 'a.b.c',
      token_type: 'bearer',
    };
    const answers = sample({ ...normal, ...shape.tokenAnswer?.(emulator.somebody) });
    await withAnswers(id, answers, (answer) => emulator.instead.set(`${id}${shape.token}`, json(answer)));
  });
});

describe('twitter', () => {
  test('profiles', async () => {
    const normal = { id_str: '1', name: 'Ada', screen_name: 'ada', email: someone() };
    const place = 'twitter/1.1/account/verify_credentials.json';
    await withAnswers('twitter', sample(normal), (answer) => emulator.instead.set(place, json(answer)));
  });

  const forms = [
    '',
    '<html>',
    'oauth_token=%00&oauth_token_secret=%00',
    `oauth_token=${LONG}&oauth_token_secret=s`,
    'oauth_token=%ED%A0%80&oauth_token_secret=%ED%A0%80&oauth_callback_confirmed=true',
    `oauth_token=a%0d%0ax&oauth_token_secret=${LONG}&oauth_callback_confirmed=true`,
  ];
  test.each(forms)('tokens: %#', async (form) => {
    become();
    emulator.instead.set('twitter/oauth/access_token', (response) => void response.end(form));
    isAnswered(await signInWith(subject, emulator, 'twitter'), form);
    emulator.instead.set('twitter/oauth/request_token', (response) => void response.end(form));
    const left = await leave(subject, 'twitter');
    expect([left.status, left.setCookie, bugs]).toEqual([503, '', []]);
  });
});
