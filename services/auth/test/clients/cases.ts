import { accountCases, phoneCases } from './cases/account.ts';
import { administrationCases } from './cases/administration.ts';
import { disabledCases } from './cases/disabled.ts';
import { factorCases, recoveryCodeCases } from './cases/factors.ts';
import { identityCases } from './cases/identities.ts';
import { sessionCases } from './cases/session.ts';
import { signInCases } from './cases/sign-in.ts';
import { signUpCases } from './cases/sign-up.ts';
import type { Cases } from './here.ts';

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

/** Every test of a method with the method's name; they run in Node and, bundled, in a browser. */
export const tested = chapters.flatMap((cases) => Object.entries(cases));

/** The methods that have a test, sorted. */
export const testedMethods = [...new Set(tested.map(([name]) => name))].sort();
