import { describe, expect, test } from 'vitest';
import { chosenEmail, decideLinking, type LinkAccount, type LinkPolicy } from './account-linking.ts';

const strict: LinkPolicy = {
  autoconfirm: false,
  signupDisabled: false,
  allowUnverified: false,
  emailOptional: false,
};
const verified = { address: 'ada@example.com', verified: true, primary: true };
const unverified = { ...verified, verified: false };
const second = { address: 'second@example.com', verified: true, primary: false };
const account: LinkAccount = {
  id: 'ada',
  email: 'ada@example.com',
  confirmed: true,
  hasProvenNumber: false,
  banned: false,
};
const pending = { ...account, confirmed: false };
const reached = { ...pending, hasProvenNumber: true };
const nobody = { known: undefined, owners: [], claimants: [], taken: [] };

describe('somebody known', () => {
  const come = (known: LinkAccount, emails = [verified], policy = {}) =>
    decideLinking(emails, { ...nobody, known }, { ...strict, ...policy });

  test('signs in, whoever else has the address (step 1)', () => {
    const decision = decideLinking(
      [verified],
      { known: account, owners: [{ ...account, id: 'other' }], claimants: [], taken: ['ada@example.com'] },
      strict,
    );
    expect(decision).toEqual({ outcome: 'sign-in', account, links: false, confirms: false });
  });
  test.each([
    ['banned', { ...account, banned: true }, [verified], {}, { outcome: 'refuse', because: 'banned' }],
    ['signups disabled', account, [verified], { signupDisabled: true }, { outcome: 'sign-in' }],
    ['address proven now', pending, [verified], {}, { outcome: 'sign-in', confirms: true }],
    ['address not proven', pending, [unverified], {}, { outcome: 'confirm-first', email: pending.email }],
    ['another address proven', pending, [second], {}, { outcome: 'confirm-first', email: pending.email }],
    ['unproven under autoconfirm', pending, [unverified], { autoconfirm: true }, { confirms: true }],
    ['unproven but allowed', pending, [unverified], { allowUnverified: true }, { confirms: false }],
    ['unproven with a proven number', reached, [unverified], {}, { outcome: 'sign-in', confirms: false }],
    ['the same under autoconfirm', reached, [unverified], { autoconfirm: true }, { confirms: false }],
    ['address proven beside a number', reached, [verified], {}, { outcome: 'sign-in', confirms: true }],
    ['no address at all', { ...pending, email: null }, [], {}, { outcome: 'sign-in', confirms: false }],
  ])('%s', (_name, known, emails, policy, expected) => {
    expect(come(known, emails, policy)).toMatchObject(expected);
  });
});

describe('somebody whose verified address has an account (step 3)', () => {
  const come = (owners: LinkAccount[], claimants: LinkAccount[], policy = {}) =>
    decideLinking(
      [verified],
      { known: undefined, owners, claimants, taken: ['ada@example.com'] },
      { ...strict, ...policy },
    );

  test.each([
    ['links', [account], [], { outcome: 'sign-in', links: true, confirms: false }],
    ['links and confirms what nobody proved', [], [pending], { links: true, confirms: true }],
    ['a number proves no address', [], [reached], { links: true, confirms: true }],
    ['banned', [{ ...account, banned: true }], [], { outcome: 'refuse', because: 'banned' }],
    ['two accounts', [account, { ...account, id: 'b' }], [], { outcome: 'refuse', because: 'ambiguous' }],
    ['who claims the address is in nobody’s way', [account], [{ ...pending, id: 'b' }], { account }],
    ['two claim it', [], [pending, { ...reached, id: 'b' }], { outcome: 'refuse', because: 'ambiguous' }],
  ])('%s', (_name, owners, claimants, expected) => {
    expect(come(owners, claimants)).toMatchObject(expected);
    expect(come(owners, claimants, { signupDisabled: true })).toMatchObject(expected);
  });
});

describe('somebody new', () => {
  const come = (
    emails: { address: string; verified: boolean; primary: boolean }[],
    taken: string[],
    policy = {},
  ) => decideLinking(emails, { ...nobody, taken }, { ...strict, ...policy });
  const address = 'ada@example.com';

  test.each([
    ['verified', [verified], [], {}, { outcome: 'create', email: address, confirmed: true }],
    ['signups disabled (step 4)', [verified], [], { signupDisabled: true }, { because: 'signup-disabled' }],
    ['no address', [], [], {}, { because: 'no-email' }],
    ['no address needed', [], [], { emailOptional: true }, { outcome: 'create', email: null }],
    ['primary not verified', [unverified, second], [], {}, { email: second.address, confirmed: true }],
    ['verified but taken', [verified], [address], {}, { outcome: 'create', email: null, confirmed: false }],
    ['one of two taken', [verified, second], [address], {}, { email: second.address, confirmed: true }],
    ['unverified', [unverified], [], {}, { outcome: 'confirm-first', account: undefined, email: address }],
    ['unverified and taken', [unverified], [address], {}, { outcome: 'unverified', email: address }],
    ['autoconfirm', [unverified], [], { autoconfirm: true }, { email: address, confirmed: true }],
    [
      'autoconfirm opens no account of somebody else',
      [unverified],
      [address],
      { autoconfirm: true },
      { outcome: 'create', email: null, confirmed: false },
    ],
    ['unverified allowed', [unverified], [], { allowUnverified: true }, { email: address, confirmed: false }],
    ['unverified allowed, taken', [unverified], [address], { allowUnverified: true }, { email: null }],
  ])('%s', (_name, emails, taken, policy, expected) => {
    expect(come(emails, taken, policy)).toMatchObject(expected);
  });
});

test('the address an identity is known by is the primary one, else the last', () => {
  expect(chosenEmail([second, verified])).toBe(verified);
  expect(chosenEmail([{ ...verified, primary: false }, second])).toBe(second);
  expect(chosenEmail([])).toBeUndefined();
});
