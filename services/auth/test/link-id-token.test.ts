import { expect, test } from 'vitest';
import { bearer, confirmedUser, someone } from './harness.ts';
import { idTokenSubject } from './support/id-token-subject.ts';
import { identitiesOf } from './support/linking-flow.ts';

const { subject, tokenOf, present } = await idTokenSubject({
  AUTHSVC_SECURITY_MANUAL_LINKING_ENABLED: 'true',
});
const link = { link_identity: true };

test('an ID token links its identity to the user of the access token', async () => {
  const user = await confirmedUser(subject);
  const sub = 'somebody who links';
  const before = (await subject.audit()).length;
  const linked = await present(tokenOf('google', { sub, email: someone() }), link, bearer(user));
  expect(linked.status).toBe(200);
  expect(linked.body.user).toMatchObject({
    id: user.body.user?.id,
    email: user.body.user?.email,
    app_metadata: { provider: 'email', providers: ['email', 'google'] },
  });
  expect((await subject.audit()).slice(before)).toEqual(['identity_linked', 'login']);
  expect(Object.keys(await identitiesOf(subject, linked))).toEqual(['email', 'google']);
  expect((await present(tokenOf('google', { sub, email: someone() }))).body.user?.id).toBe(
    user.body.user?.id,
  );
  expect(
    await subject.countRoundTrips(() =>
      present(tokenOf('apple'), { ...link, provider: 'apple' }, bearer(user)),
    ),
  ).toBe(2);
});

test('it is refused without one, with a bad token, and for an identity that is somebody’s', async () => {
  const user = await confirmedUser(subject);
  const own = { sub: 'own', email: someone() };
  await present(tokenOf('google', own), link, bearer(user));
  const other = { sub: 'other', email: someone() };
  await present(tokenOf('google', other));
  const before = await subject.snapshot();
  const answers = [
    await present(tokenOf('google'), link),
    await present(tokenOf('google'), link, { authorization: 'Bearer garbage' }),
    await present(tokenOf('google', { aud: 'evil' }), link, bearer(user)),
    await present(tokenOf('google'), { ...link, nonce: 'another' }, bearer(user)),
    await present(tokenOf('google', own), link, bearer(user)),
    await present(tokenOf('google', other), link, bearer(user)),
    await present(tokenOf('google'), { link_identity: 'perhaps' }, bearer(user)),
  ];
  expect(answers.map(({ status, body }) => [status, body['error_code']])).toEqual([
    [401, 'no_authorization'],
    [403, 'bad_jwt'],
    [400, 'validation_failed'],
    [400, 'validation_failed'],
    [422, 'identity_already_exists'],
    [422, 'identity_already_exists'],
    [400, 'bad_json'],
  ]);
  expect(await subject.snapshot()).toBe(before);
});
