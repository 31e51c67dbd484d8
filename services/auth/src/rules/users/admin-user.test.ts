import { expect, test } from 'vitest';
import {
  appMetadataOf,
  checkName,
  checkNewUserId,
  checkUserId,
  identitiesOf,
  userMetadataOf,
} from './admin-user.ts';

const id = '6ba7b810-9dad-41d1-80b4-00c04fd430c8';
const both = {
  id,
  email: 'ada@example.com',
  phone: '15551234567',
  emailConfirmed: true,
  phoneConfirmed: false,
};

test('an id is a UUID of any version, in lower case', () => {
  expect(checkUserId(id.toUpperCase())).toBe(id);
  expect(checkNewUserId(id.toUpperCase())).toBe(id);
  for (const wrong of ['', 'ada', `${id} `, `{${id}}`, `urn:uuid:${id}`, id.replaceAll('-', '')]) {
    expect(() => checkUserId(wrong)).toThrow('user_id must be an UUID');
    expect(() => checkNewUserId(wrong)).toThrow('ID must conform to the uuid v4 format');
  }
  expect(() => checkNewUserId('00000000-0000-0000-0000-000000000000')).toThrow('ID cannot be a nil uuid');
});

test('a role has an end', () => {
  expect(checkName('role', 'r'.repeat(255))).toHaveLength(255);
  expect(() => checkName('role', 'é'.repeat(128))).toThrow('role cannot be longer than 255 bytes');
});

test('an address and a number are two ways to sign in', () => {
  expect(identitiesOf(both)).toEqual([
    {
      provider: 'email',
      provider_id: id,
      data: { sub: id, email: both.email, email_verified: true, phone_verified: false },
    },
    {
      provider: 'phone',
      provider_id: id,
      data: { sub: id, phone: both.phone, email_verified: true, phone_verified: false },
    },
  ]);
  expect(identitiesOf({ ...both, email: null })).toHaveLength(1);
});

test('the metadata given is laid over what the service notes, and null deletes', () => {
  const identities = identitiesOf(both);
  expect(appMetadataOf(identities, { plan: 'pro', trial: null })).toEqual({
    provider: 'email',
    providers: ['email', 'phone'],
    plan: 'pro',
  });
  expect(appMetadataOf(identities, { provider: null })).toEqual({ providers: ['email', 'phone'] });
  expect(userMetadataOf(both, { name: 'Ada', gone: null, email_verified: false })).toEqual({
    name: 'Ada',
    email_verified: true,
  });
  expect(userMetadataOf({ ...both, email: null }, {})).toEqual({});
});
