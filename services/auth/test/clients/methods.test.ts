import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browse } from './browsing.ts';
import { tested, testedMethods } from './cases.ts';
import { APP, configurationNames, type Fleet, startFleet } from './fleet.ts';
import { flows, makeHere } from './here.ts';
import { hiddenNames } from './hidden-names.ts';
import { outsideOf } from './outside.ts';
import { surfaces } from './surface.ts';

// Every public method of the client library people use, against servers as they run, on one database.

const hidden = hiddenNames();
let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet();
});
afterAll(() => fleet[Symbol.asyncDispose]());
beforeEach(() => {
  // What a failed test left behind is not the next one's.
  fleet.providers.complaints.length = 0;
});

test('every public method of the library has a test, and no test is of one that is not there', () => {
  expect(surfaces(hidden)).toEqual({ 'auth-js': testedMethods, 'supabase-js': testedMethods });
  expect(testedMethods.length).toBeGreaterThan(80);
});

describe.each(configurationNames)('%s', (configuration) => {
  describe.each(flows)('%s', (flow) => {
    test.each(tested)('%s', async (name, run) => {
      const server = fleet.serverOf(configuration);
      const { serviceToken } = fleet;
      const called = new Set<string>();
      const outside = outsideOf(fleet, server, APP, browse());
      await run(makeHere({ server, flow, app: APP, serviceToken, hidden }, outside, called));
      expect([...called], 'the test calls what it is named after').toContain(name);
      expect(fleet.providers.complaints).toEqual([]);
    });
  });
});
