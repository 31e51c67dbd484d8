import { randomBytes, randomUUID } from 'node:crypto';
import { hash as argon2 } from '@node-rs/argon2';
import bcrypt from 'bcrypt';
import { deriveGoTrueToken } from '../../src/rules/tokens/gotrue-token.ts';
import type { GoTrueDatabase, Shape } from './gotrue-database.ts';

// People as GoTrue databases have them, with the oddities of their years.

/** The password of everybody. */
export const OLD_PASSWORD = 'a password from before';
const LONG_AGO = '2024-03-01T10:00:00.123456Z';
const FIREBASE =
  '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=ou9tdYTGyYm8kuR6Dt0Bp0kDuAYoXrK16mbZO4yGwAn3oLspjnN0/c41v8xZnO1n14J3MjKj1b2g6AUCAlFwMw==$C0sHCg9ek77hsg==$zKVTMvnWVw5BBOZNUdnsalx4c4c7y/w7IS5p6Ut2+CfEFFlz37J9huyQfov4iizN8dbjvEJlM5tQaJP84+hfTw==';

/** Someone who was put into the database. */
export interface OldPerson {
  id: string;
  email: string;
}

/** An opened session, and the tokens its client has had: the last one is live. */
export interface OldSession {
  id: string;
  tokens: string[];
}

const token = () =>
  Array.from(randomBytes(12), (byte) => 'abcdefghijklmnopqrstuvwxyz234567'[byte % 32]).join('');

/** Everybody of a database. */
export async function populate(database: GoTrueDatabase, shape: Shape) {
  const user = async (row: { email?: string; [column: string]: unknown }): Promise<OldPerson> => {
    const id = randomUUID();
    await database.put('users', {
      instance_id: '00000000-0000-0000-0000-000000000000',
      id,
      aud: 'authenticated',
      role: 'authenticated',
      is_sso_user: false,
      is_anonymous: false,
      raw_app_meta_data: { provider: 'email', providers: ['email'] },
      raw_user_meta_data: { name: 'tab\tline\nbackslash \\N "quote" 🦊' },
      confirmation_token: '',
      email_change: '',
      phone_change: '',
      created_at: LONG_AGO,
      updated_at: LONG_AGO,
      ...row,
    });
    return { id, email: row.email ?? '' };
  };
  const identity = (
    userId: string,
    provider: string,
    providerId: string,
    data: object,
    id: string = randomUUID(),
  ) =>
    database.put('identities', {
      id,
      user_id: userId,
      provider,
      provider_id: providerId,
      identity_data: data,
      created_at: LONG_AGO,
      updated_at: LONG_AGO,
    });
  const session = async (
    userId: string,
    more: Record<string, unknown> = {},
    count = 3,
  ): Promise<OldSession> => {
    const id = randomUUID();
    await database.put('sessions', {
      id,
      user_id: userId,
      aal: 'aal1',
      created_at: LONG_AGO,
      updated_at: LONG_AGO,
      refreshed_at: '2025-12-31T10:00:00',
      user_agent: 'an old browser',
      ip: '192.0.2.7',
      ...more,
    });
    await database.put('mfa_amr_claims', {
      id: randomUUID(),
      session_id: id,
      created_at: LONG_AGO,
      updated_at: LONG_AGO,
      authentication_method: 'password',
    });
    const tokens = Array.from({ length: count }, token);
    for (const [index, text] of tokens.entries()) {
      await database.put('refresh_tokens', {
        id: nextId++,
        token: text,
        user_id: userId,
        revoked: index < count - 1,
        created_at: LONG_AGO,
        updated_at: LONG_AGO,
        parent: tokens[index - 1],
        session_id: id,
      });
    }
    return { id, tokens };
  };
  let nextId = 1;
  const confirmed = { email_confirmed_at: LONG_AGO };
  const hash = (await bcrypt.hash(OLD_PASSWORD, 10)).replace('$2b$', '$2a$');

  const ada = await user({ email: 'ada@old.example', encrypted_password: hash, ...confirmed, phone: '' });
  // Scripts that seed a database like to give both the same id.
  await identity(ada.id, 'email', ada.id, { sub: ada.id, email: ada.email, email_verified: true }, ada.id);
  await identity(ada.id, 'google', '1234567890', {
    sub: '1234567890',
    email: ada.email,
    email_verified: true,
  });
  const factorId = randomUUID();
  const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
  await database.put('mfa_factors', {
    id: factorId,
    user_id: ada.id,
    friendly_name: 'phone of ada',
    factor_type: 'totp',
    status: 'verified',
    created_at: LONG_AGO,
    updated_at: LONG_AGO,
    secret,
  });
  await database.put('mfa_factors', {
    id: randomUUID(),
    user_id: ada.id,
    friendly_name: '',
    factor_type: 'totp',
    status: 'unverified',
    created_at: LONG_AGO,
    updated_at: LONG_AGO,
    secret,
  });
  const raised = await session(ada.id, { aal: 'aal2', factor_id: factorId });

  const argon = await argon2(OLD_PASSWORD, { memoryCost: 1024, timeCost: 1, parallelism: 1 });
  const bob = await user({ email: 'Bob@Old.example', encrypted_password: argon, ...confirmed });
  const [first, second, third] = [await session(bob.id), await session(bob.id), await session(bob.id)];
  // The same person once more, in other letters, and never confirmed.
  const twin = await user({
    email: 'bob@old.example',
    encrypted_password: hash,
    created_at: '2025-01-01T00:00:00Z',
  });
  await session(twin.id);
  const carl = await user({ email: 'carl@old.example', encrypted_password: FIREBASE, ...confirmed });
  const dora = await user({
    phone: '14155550100',
    phone_confirmed_at: LONG_AGO,
    encrypted_password: hash,
    raw_app_meta_data: null,
    raw_user_meta_data: null,
    created_at: null,
    aud: null,
    role: null,
  });
  const eve = await user({ email: 'Zm9v', deleted_at: LONG_AGO, encrypted_password: '' });
  await session(eve.id);
  const frank = await user({
    email: 'frank@old.example',
    encrypted_password: hash,
    ...confirmed,
    banned_until: '2999-01-01T00:00:00Z',
  });
  const banned = await session(frank.id);
  const gina = await user({
    email: 'gina@old.example',
    ...confirmed,
    encrypted_password: JSON.stringify({ key_id: 'k', alg: 'aes-gcm-hkdf', data: 'AA', nonce: 'AA' }),
    email_change: 'gina@new.example',
  });
  await database.put('mfa_factors', {
    id: randomUUID(),
    user_id: gina.id,
    friendly_name: 'key',
    factor_type: 'webauthn',
    status: 'verified',
    created_at: LONG_AGO,
    updated_at: LONG_AGO,
  });
  const sso = await user({ email: 'ada@old.example', is_sso_user: true, ...confirmed });
  await identity(sso.id, `sso:${randomUUID()}`, 'ada', { sub: 'ada', email: 'ada@old.example' });
  const anonymous = await user({ is_anonymous: true, raw_app_meta_data: {} });
  const ofAnonymous = await session(anonymous.id);
  const taken = await user({ email: 'taken@old.example', encrypted_password: hash, ...confirmed });
  await identity(taken.id, 'email', taken.id, { sub: taken.id, email: taken.email });
  await session(taken.id);
  const ended = await session(bob.id, { not_after: '2025-01-01T00:00:00Z' });
  const tokenless = await session(bob.id, {}, 0);
  await database.put('audit_log_entries', {
    id: randomUUID(),
    payload: { action: 'login', actor_id: ada.id, log_type: 'account' },
    created_at: LONG_AGO,
    ip_address: '',
  });

  // As one column of JSON takes it, and no search does.
  await database.script(String.raw`update :schema.audit_log_entries
    set payload = '{"action":"login","odd":"a\u0000b","actor_id":"${ada.id}"}'`);

  // Today's other kind of token, which has no row.
  const key = randomBytes(32);
  const stateless =
    shape === 'head'
      ? await session(
          bob.id,
          { refresh_token_hmac_key: key.toString('base64'), refresh_token_counter: 300 },
          0,
        )
      : undefined;
  const derived = stateless && [299, 300].map((counter) => deriveGoTrueToken(stateless.id, counter, key));

  return {
    people: { ada, bob, twin, carl, dora, eve, frank, gina, sso, anonymous, taken },
    sessions: { raised, first, second, third, banned, ofAnonymous, ended, tokenless, derived },
    factor: { id: factorId, secret },
  };
}
