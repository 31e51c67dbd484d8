import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Answer, bearer, confirmedUser, someone } from './harness.ts';
import { comeBack } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import { identitiesOf, leaveLinking, link, unlink } from './support/linking-flow.ts';

const { emulator, subject, become } = await externalSubject(['github', 'google', 'spotify'], {
  AUTHSVC_SECURITY_MANUAL_LINKING_ENABLED: 'true',
});
const refusalOf = ({ status, body }: Answer) => [status, body['error_code'], body['msg']];
const nothingChanges = async (work: () => Promise<unknown>) => {
  const before = await subject.snapshot();
  await work();
  expect(await subject.snapshot()).toBe(before);
};

describe('unlinking', () => {
  test('the last one stays', async () => {
    const user = await confirmedUser(subject);
    const { email = '' } = await identitiesOf(subject, user);
    await nothingChanges(async () => {
      expect(refusalOf(await unlink(subject, user, email))).toEqual([
        422,
        'single_identity_not_deletable',
        'User must have at least 1 identity after unlinking',
      ]);
    });
  });

  test('somebody else’s, one nobody has, and none at all', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    await link(subject, emulator, user, 'github');
    const victim = await confirmedUser(subject);
    become(someone());
    await link(subject, emulator, victim, 'google');
    const { google = '' } = await identitiesOf(subject, victim);
    await nothingChanges(async () => {
      for (const id of [google, randomUUID()]) {
        expect(refusalOf(await unlink(subject, user, id))).toEqual([
          422,
          'identity_not_found',
          "Identity doesn't exist",
        ]);
      }
      for (const id of ['x', "' or 1=1 --", '%00', google.slice(1)]) {
        expect(refusalOf(await unlink(subject, user, encodeURIComponent(id)))).toEqual([
          404,
          'validation_failed',
          'identity_id must be an UUID',
        ]);
      }
    });
  });

  test('all at once leave one', async () => {
    for (let round = 0; round < 4; round++) {
      const user = await confirmedUser(subject);
      for (const provider of ['github', 'google', 'spotify'] as const) {
        become(someone());
        await link(subject, emulator, user, provider);
      }
      const all = Object.values(await identitiesOf(subject, user));
      expect(all).toHaveLength(4);
      const answers = await Promise.all(all.map((id) => unlink(subject, user, id)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 422]);
      const left = Object.keys(await identitiesOf(subject, user));
      expect(left).toHaveLength(1);
      const { app_metadata: app } = (await subject.get('/user', bearer(user))).body;
      expect(app).toMatchObject({ provider: left[0], providers: left });
    }
  });

  test('the same one many times at once is removed once', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    await link(subject, emulator, user, 'github');
    const { github = '' } = await identitiesOf(subject, user);
    const before = (await subject.audit()).length;
    const answers = await Promise.all(Array.from({ length: 5 }, () => unlink(subject, user, github)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.every(({ status }) => status < 500)).toBe(true);
    expect((await subject.audit()).slice(before)).toEqual(['identity_unlinked']);
  });

  test('while another is linked loses neither', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    await link(subject, emulator, user, 'github');
    const { github = '' } = await identitiesOf(subject, user);
    become(someone());
    const left = await leaveLinking(subject, user, 'google');
    const back = emulator.agree(left.location);
    await Promise.all([unlink(subject, user, github), comeBack(subject, back, left.cookie)]);
    const now = await identitiesOf(subject, user);
    expect(Object.keys(now)).toEqual(['email', 'google']);
    const { app_metadata: app } = (await subject.get('/user', bearer(user))).body;
    expect(app).toMatchObject({ provider: 'email', providers: ['email', 'google'] });
  });

  test('an address that somebody has meanwhile is not taken from them', async () => {
    const user = await confirmedUser(subject);
    const taken = someone('taken');
    become(taken);
    await link(subject, emulator, user, 'google');
    await confirmedUser(subject, taken);
    const { email = '' } = await identitiesOf(subject, user);
    await nothingChanges(async () => {
      expect(refusalOf(await unlink(subject, user, email))).toEqual([
        422,
        'email_conflict_identity_not_deletable',
        'Unable to unlink identity due to email conflict',
      ]);
    });
  });

  test('a session that was signed out unlinks nothing', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    await link(subject, emulator, user, 'github');
    const { github = '' } = await identitiesOf(subject, user);
    await subject.post('/logout', undefined, bearer(user));
    await nothingChanges(async () => {
      expect((await unlink(subject, user, github)).status).toBe(403);
    });
  });
});
