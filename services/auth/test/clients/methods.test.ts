import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountCases, phoneCases } from './cases/account.ts';
import { administrationCases } from './cases/administration.ts';
import { disabledCases } from './cases/disabled.ts';
import { factorCases, recoveryCodeCases } from './cases/factors.ts';
import { identityCases } from './cases/identities.ts';
import { sessionCases } from './cases/session.ts';
import { signInCases } from './cases/sign-in.ts';
import { signUpCases } from './cases/sign-up.ts';
import { configurationNames, type Fleet, startFleet } from './fleet.ts';
import { type Cases, type Flow, makeHere } from './here.ts';
import { idleClient, methodsOf } from './surface.ts';

// Every public method of the client library people use, against servers as they run, on one database.

const chapters: readonly Cases[] = [
  signUpCases,
  signInCases,
  sessionCases,
  accountCases,
  phoneCases,
  administrationCases,
  disabledCases,
  factorCases,
  recoveryCodeCases,
  identityCases,
];
const tested = chapters.flatMap((cases) => Object.entries(cases));

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet();
});
afterAll(() => fleet[Symbol.asyncDispose]());

test('every public method of the library has a test, and no test is of one that is not there', () => {
  const names = new Set(tested.map(([name]) => name));
  expect([...names].sort()).toEqual(methodsOf(idleClient()));
  expect(names.size).toBeGreaterThan(80);
});

describe.each(configurationNames)('%s', (configuration) => {
  describe.each(['implicit', 'pkce'] satisfies Flow[])('%s', (flow) => {
    test.each(tested)('%s', async (name, run) => {
      const server = fleet.servers.get(configuration);
      if (server === undefined) throw new Error(`no server for ${configuration}`);
      const called = new Set<string>();
      await run(makeHere(fleet, server, flow, called));
      expect([...called], 'the test calls what it is named after').toContain(name);
      expect(fleet.providers.complaints).toEqual([]);
    });
  });
});
