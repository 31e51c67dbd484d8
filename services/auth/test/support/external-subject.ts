import { afterAll, beforeEach } from 'vitest';
import type { ProviderId } from '../../src/rules/external/provider-ids.ts';
import { type AnswerBody, type Subject, startSubject } from '../harness.ts';
import type { Redirected } from './external-flow.ts';
import { startProviderEmulator } from './provider-emulator.ts';

let last = 5000;

/**
 * A service beside an emulator of its providers, for all tests of the file that calls this. What a test told the
 * emulator is forgotten before the next one.
 */
export async function externalSubject(used: readonly ProviderId[], environment: Record<string, string> = {}) {
  const emulator = await startProviderEmulator();
  const subject = await startSubject({ ...emulator.settings(...used), ...environment });
  beforeEach(() => {
    emulator.received.length = 0;
    emulator.complaints.length = 0;
    emulator.instead.clear();
    emulator.tamper = {};
  });
  afterAll(async () => {
    await subject[Symbol.asyncDispose]();
    await emulator[Symbol.asyncDispose]();
  });
  return {
    emulator,
    subject,
    /** Makes somebody with that address the one who is signed in at all providers. */
    become: (email: string, verified = true, id = String(++last)): void => {
      emulator.somebody = { id, email, verified, name: 'Ada Lovelace' };
    },
    /** The account a sign-in led to. */
    userOf: async ({ fragment }: Redirected, on: Subject = subject): Promise<AnswerBody> => {
      return (await on.get('/user', { authorization: `Bearer ${fragment.get('access_token')}` })).body;
    },
  };
}
