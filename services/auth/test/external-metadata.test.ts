import { describe, expect, test } from 'vitest';
import { METADATA_LIMITS } from '../src/rules/users/user-update.ts';
import { type AnswerBody, bearer, confirmedUser, someone } from './harness.ts';
import { signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import { json } from './support/provider-emulator.ts';

// What a provider tells is held to the limits of what people tell of themselves.

const { emulator, subject, become, userOf } = await externalSubject(['keycloak']);
const tells = (profile: object): void => {
  const { id, email } = emulator.somebody;
  emulator.instead.set(
    'keycloak/protocol/openid-connect/userinfo',
    json({ sub: id, email, email_verified: true, ...profile }),
  );
};
/** Bytes of the metadata and of the identities of an account, as the database spells them. */
const stored = async (id: unknown) =>
  await subject.rows.autocommit().row<{ metadata: number; identities: number }>`
    select octet_length(raw_user_meta_data::text) as metadata, (
      select sum(octet_length(identity_data::text)) from :schema.identities i where i.user_id = u.id) as identities
    from :schema.users u where id = ${String(id)}::uuid`;

describe('a profile', () => {
  test('leaves out the numbers that other metadata is refused for', async () => {
    become(someone());
    tells({ name: 1e308, given_name: -1e-300, family_name: 7, score: 1e308, scores: [1, 1e-30, 1e21] });
    const metadata = (await userOf(await signInWith(subject, emulator, 'keycloak')))[
      'user_metadata'
    ] as AnswerBody;
    expect(metadata).toMatchObject({ family_name: 7, custom_claims: { scores: [1] } });
    for (const name of ['name', 'full_name', 'given_name']) expect(metadata).not.toHaveProperty(name);
    expect(metadata['custom_claims']).not.toHaveProperty('score');
  });

  test('brings nobody more metadata than there may be: who has as much signs in with what they have', async () => {
    const email = someone();
    const own = await confirmedUser(subject, email);
    const data = { avatar: 'x'.repeat(METADATA_LIMITS.user_metadata - 4_000) };
    expect((await subject.send('PUT', '/user', JSON.stringify({ data }), bearer(own))).status).toBe(200);
    become(email);
    tells({ name: 'A'.repeat(2_000), given_name: 'B'.repeat(2_000), family_name: 'C'.repeat(2_000) });
    const signedIn = await signInWith(subject, emulator, 'keycloak');
    const user = await userOf(signedIn);
    const metadata = user['user_metadata'] as AnswerBody;
    expect([metadata['avatar'] === data.avatar, metadata['given_name']]).toEqual([true, undefined]);
    expect(user['app_metadata']).toMatchObject({ providers: ['email', 'keycloak'] });
    const { metadata: bytes = 0, identities = 0 } = (await stored(user.id)) ?? {};
    expect(bytes).toBeLessThanOrEqual(METADATA_LIMITS.user_metadata);
    // The identity itself knows the profile.
    expect(identities).toBeGreaterThan(6_000);

    // Once there is room the next sign-in brings it.
    const headers = { authorization: `Bearer ${signedIn.fragment.get('access_token')}` };
    await subject.send('PUT', '/user', JSON.stringify({ data: { avatar: null } }), headers);
    const later = await userOf(await signInWith(subject, emulator, 'keycloak'));
    expect(later['user_metadata']).toMatchObject({ given_name: 'B'.repeat(2_000) });
  });

  test('larger metadata from elsewhere does not grow by it, and keeps nobody out', async () => {
    const email = someone();
    const own = await confirmedUser(subject, email);
    const id = own.body.user?.id;
    await subject.rows.autocommit().run`
      update :schema.users set raw_user_meta_data = jsonb_build_object('name', repeat('y', 700000))
      where id = ${id}::uuid`;
    const before = await stored(id);
    become(email);
    tells({ given_name: 'B'.repeat(2_000) });
    await signInWith(subject, emulator, 'keycloak');
    expect((await stored(id))?.metadata).toBe(before?.metadata);
    // A name in place of the long one makes it less.
    tells({ name: 'Ada' });
    const user = await userOf(await signInWith(subject, emulator, 'keycloak'));
    expect(user['user_metadata']).toMatchObject({ name: 'Ada' });
  });
});
