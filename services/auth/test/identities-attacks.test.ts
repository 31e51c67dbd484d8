import { describe, expect, test } from 'vitest';
import { type Answer, bearer, confirmedUser, PASSWORD, someone, startSubject } from './harness.ts';
import { serviceRole } from './support/administrators.ts';
import { comeBack, leave, type Redirected, signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import {
  comeBackUnknown,
  identitiesOf,
  leaveLinking,
  link,
  pkce,
  press,
  unlink,
} from './support/linking-flow.ts';
import { meet } from './support/meeting.ts';
import { enrolled, succeeded, verified } from './support/second-factors.ts';

const { emulator, subject, become, userOf } = await externalSubject(['github', 'google', 'spotify'], {
  AUTHSVC_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
});
const exchange = (code: string | null, verifier: string) =>
  subject.post('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier });
const isRefused = ({ status, query }: Redirected, code: string) =>
  expect([status < 400, query.get('error_code')]).toEqual([true, code]);
const refusalOf = ({ status, body }: Answer) => [status, body['error_code'], body['msg']];
/** Everything but the flows, which a refused return may use up. */
const nothingChanges = async (work: () => Promise<unknown>) => {
  const before = await subject.snapshot();
  await work();
  expect(await subject.snapshot()).toBe(before);
};

describe('confused flows', () => {
  test('another browser comes back with the state of a link: it is asked, and links nothing by itself', async () => {
    const attacker = await confirmedUser(subject);
    become(someone('victim'));
    const left = await leaveLinking(subject, attacker, 'google', { redirect_to: 'https://site.example/' });
    const back = emulator.agree(left.location);
    await nothingChanges(async () => {
      const asked = await comeBackUnknown(subject, back);
      expect(asked.html).toContain(String(attacker.body.user?.email));
      // What an attacker can make the victim's browser send: no cookie of the page, or none of its secret.
      const again = await press(subject, asked.fields, '');
      expect(again.status).toBe(200);
      const guessed = await press(subject, { ...asked.fields, linking: 'guess' }, asked.cookie);
      expect(guessed.status).toBe(200);
      const emptied = await press(
        subject,
        { ...asked.fields, linking: '' },
        asked.cookie.replace(/=.*/, '='),
      );
      expect(emptied.status).toBe(200);
      const reloaded = await comeBack(subject, back, asked.cookie);
      expect(reloaded.status).toBe(200);
    });
  });

  test('another browser comes back with a challenge: its code is worth nothing without the verifier', async () => {
    const attacker = await confirmedUser(subject);
    become(someone('victim'));
    const { challenge } = pkce();
    const left = await leaveLinking(subject, attacker, 'google', challenge);
    const back = await comeBack(subject, emulator.agree(left.location), '');
    await nothingChanges(async () => {
      const answer = await exchange(back.query.get('code'), pkce().verifier);
      expect(refusalOf(answer).slice(0, 2)).toEqual([400, 'bad_code_verifier']);
    });
    expect(Object.keys(await identitiesOf(subject, attacker))).toEqual(['email']);
  });

  test('the state of a sign-in links nothing, and that of a link signs nobody else in', async () => {
    const user = await confirmedUser(subject);
    become(someone('stranger'));
    const signIn = await leave(subject, 'google');
    const signedIn = await comeBack(subject, emulator.agree(signIn.location), signIn.cookie);
    expect((await userOf(signedIn)).id).not.toBe(user.body.user?.id);
    expect(Object.keys(await identitiesOf(subject, user))).toEqual(['email']);
    // The identity is somebody's by now: the flow of a link does not sign in as them.
    const left = await leaveLinking(subject, user, 'google');
    await nothingChanges(async () => {
      isRefused(
        await comeBack(subject, emulator.agree(left.location), left.cookie),
        'identity_already_exists',
      );
    });
  });

  test('the cookie of another flow does not do', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    const own = await leaveLinking(subject, user, 'google');
    const other = await leave(subject, 'google');
    await nothingChanges(async () => {
      isRefused(await comeBack(subject, emulator.agree(other.location), own.cookie), 'bad_oauth_state');
      expect((await comeBack(subject, emulator.agree(own.location), other.cookie)).status).toBe(200);
    });
  });

  test('a sign-in is not confirmed by the button of the page', async () => {
    const left = await leave(subject, 'google');
    const { fields } = emulator.agree(left.location);
    const name = `${left.cookie.split('=')[0]}-link`;
    await nothingChanges(async () => {
      isRefused(await press(subject, { ...fields, linking: 'secret' }, `${name}=secret`), 'bad_oauth_state');
    });
  });

  test('a code of a link that was used, or is too old', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    const { verifier, challenge } = pkce();
    const left = await leaveLinking(subject, user, 'github', challenge);
    const back = await comeBack(subject, emulator.agree(left.location), '');
    subject.clock.advance(301_000);
    await nothingChanges(async () => {
      const late = await exchange(back.query.get('code'), verifier);
      expect(late.body['error_code']).toBe('flow_state_expired');
    });
    const slow = await leaveLinking(subject, user, 'github');
    subject.clock.advance(301_000);
    isRefused(await comeBack(subject, emulator.agree(slow.location), slow.cookie), 'bad_oauth_state');
    expect(Object.keys(await identitiesOf(subject, user))).toEqual(['email']);
  });

  test('of many returns with one state one links', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    const left = await leaveLinking(subject, user, 'github');
    const back = emulator.agree(left.location);
    const answers = await Promise.all(Array.from({ length: 6 }, () => comeBack(subject, back, left.cookie)));
    expect(answers.filter(({ fragment }) => fragment.has('access_token'))).toHaveLength(1);
    expect(answers.filter(({ query }) => query.get('error_code') === 'bad_oauth_state')).toHaveLength(5);
  });

  test('of many exchanges of one code one links', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    const { verifier, challenge } = pkce();
    const left = await leaveLinking(subject, user, 'github', challenge);
    const back = await comeBack(subject, emulator.agree(left.location), '');
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => exchange(back.query.get('code'), verifier)),
    );
    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
    expect(answers.every(({ status }) => status < 500)).toBe(true);
  });

  test('what a page shows and sends back cannot be more than text', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    const left = await leaveLinking(subject, user, 'google');
    const back = emulator.agree(left.location);
    const evil = '"><script>alert(1)</script>';
    const asked = await comeBackUnknown(subject, { ...back, fields: { ...back.fields, evil } });
    expect(asked.html).not.toContain('<script>');
    expect(asked.fields['evil']).toBe(evil);
  });
});

describe('a link whose user is not signed in any more', () => {
  test.each<[string, (user: Answer) => Promise<unknown>, string]>([
    ['signed out', (user) => subject.post('/logout', undefined, bearer(user)), 'session_not_found'],
    [
      'banned',
      (user) => subject.rows.autocommit().run`
      update :schema.users set banned_until = 'infinity' where id = ${user.body.user?.id ?? ''}::uuid`,
      'user_banned',
    ],
    [
      'gone',
      (user) => subject.rows.autocommit().run`
      delete from :schema.users where id = ${user.body.user?.id ?? ''}::uuid`,
      'user_not_found',
    ],
    // Begun with the password alone, finished where it takes both.
    [
      'raised by the first second factor',
      async (user) => {
        const factor = await enrolled(subject, user);
        succeeded(await verified(subject, user, factor.id, factor.code()));
      },
      'bad_oauth_state',
    ],
  ])('%s', async (_name, happen, code) => {
    const user = await confirmedUser(subject);
    become(someone());
    const { verifier, challenge } = pkce();
    const inBrowser = await leaveLinking(subject, user, 'github');
    const bound = await leaveLinking(subject, user, 'google', challenge);
    const late = await leaveLinking(subject, user, 'spotify', challenge);
    const waiting = await comeBack(subject, emulator.agree(bound.location), '');
    await happen(user);
    await nothingChanges(async () => {
      isRefused(await comeBack(subject, emulator.agree(inBrowser.location), inBrowser.cookie), code);
      expect((await exchange(waiting.query.get('code'), verifier)).status).toBeGreaterThanOrEqual(400);
      const tooLate = await comeBack(subject, emulator.agree(late.location), '');
      expect(tooLate.query.has('code')).toBe(false);
    });
  });

  test('signed out of that session alone', async () => {
    const user = await confirmedUser(subject);
    const other = await subject.post('/token?grant_type=password', {
      email: user.body.user?.email,
      password: PASSWORD,
    });
    become(someone());
    const { verifier, challenge } = pkce();
    const left = await leaveLinking(subject, other, 'google', challenge);
    const waiting = await comeBack(subject, emulator.agree(left.location), '');
    expect((await subject.post('/logout?scope=local', undefined, bearer(other))).status).toBe(204);
    await nothingChanges(async () => {
      const answer = await exchange(waiting.query.get('code'), verifier);
      expect(refusalOf(answer).slice(0, 2)).toEqual([403, 'session_not_found']);
    });
    expect(Object.keys(await identitiesOf(subject, user))).toEqual(['email']);
  });
});

describe('identities that are taken', () => {
  test('the user’s own, and somebody else’s', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    await link(subject, emulator, user, 'github');
    const other = await confirmedUser(subject);
    const { challenge } = pkce();
    for (const [who, text] of [
      [user, 'Identity is already linked'],
      [other, 'Identity is already linked to another user'],
    ] as const) {
      const left = await leaveLinking(subject, who, 'github');
      const bound = await leaveLinking(subject, who, 'github', challenge);
      await nothingChanges(async () => {
        for (const back of [
          await comeBack(subject, emulator.agree(left.location), left.cookie),
          await comeBack(subject, emulator.agree(bound.location), ''),
        ]) {
          isRefused(back, 'identity_already_exists');
          expect(back.query.get('error_description')).toBe(text);
        }
      });
    }
  });

  test('two users at once: one gets it', async () => {
    const users = [await confirmedUser(subject), await confirmedUser(subject)];
    become(someone());
    const flows = await Promise.all(users.map((user) => leaveLinking(subject, user, 'github')));
    const answers = await Promise.all(
      flows.map((left) => comeBack(subject, emulator.agree(left.location), left.cookie)),
    );
    expect(answers.filter(({ fragment }) => fragment.has('access_token'))).toHaveLength(1);
    expect(answers.filter(({ query }) => query.get('error_code') === 'identity_already_exists')).toHaveLength(
      1,
    );
  });

  test('an address that somebody has does not become a second account’s', async () => {
    const owner = await confirmedUser(subject);
    const anonymous = await subject.post('/signup', {});
    become(owner.body.user?.email ?? '');
    const left = await leaveLinking(subject, anonymous, 'google');
    await nothingChanges(async () => {
      isRefused(await comeBack(subject, emulator.agree(left.location), left.cookie), 'email_exists');
    });
  });
});

describe('SECURITY_MANUAL_LINKING_ENABLED=false', () => {
  test('is the default: nothing is linked or unlinked', async () => {
    await using off = await startSubject(emulator.settings('google'));
    const user = await confirmedUser(off);
    const { email = '' } = await identitiesOf(off, user);
    const before = await off.snapshot();
    const disabled = [404, 'manual_linking_disabled', 'Manual linking is disabled'];
    expect(refusalOf(await off.get('/user/identities/authorize?provider=google', bearer(user)))).toEqual(
      disabled,
    );
    expect(refusalOf(await unlink(off, user, email))).toEqual(disabled);
    const body = { provider: 'google', id_token: 'x', link_identity: true };
    expect(refusalOf(await off.post('/token?grant_type=id_token', body, bearer(user)))).toEqual(disabled);
    expect((await off.get('/user/identities/authorize?provider=google')).status).toBe(401);
    expect(await off.snapshot()).toBe(before);
  });
});

test('a deletion that keeps the row meets a link that is ahead: the identity tells nothing, and is free', async () => {
  const user = await confirmedUser(subject);
  const id = String(user.body.user?.id);
  const email = someone('secret');
  become(email);
  const linking = async () => {
    await link(subject, emulator, user, 'google');
    return await subject.get('/health');
  };
  const body = JSON.stringify({ should_soft_delete: true });
  const deletion = () => subject.send('DELETE', `/admin/users/${id}`, body, serviceRole(subject));
  const { second: deleted } = await meet(subject, id, linking, deletion);
  expect(deleted.status).toBe(200);
  const left = await subject.rows.autocommit().rows<{ provider: string }>`
    select provider, provider_id, identity_data from :schema.identities where user_id = ${id}::uuid`;
  expect(left.map(({ provider }) => provider).sort()).toEqual(['email', 'google']);
  expect(JSON.stringify(left)).not.toMatch(new RegExp(`secret|"${emulator.somebody.id}"`));
  expect(await userOf(await signInWith(subject, emulator, 'google'))).toMatchObject({ email });
});

test('bad input of GET /user/identities/authorize', async () => {
  const user = await confirmedUser(subject);
  await nothingChanges(async () => {
    for (const query of ['', '?provider=foo', '?provider=gitlab', '?provider=google&code_challenge=x']) {
      const answer = await subject.get(`/user/identities/authorize${query}`, bearer(user));
      expect([answer.status, answer.body['error_code']]).toEqual([400, 'validation_failed']);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });
  const evil = await subject.get(
    '/user/identities/authorize?provider=google&skip_http_redirect=true&redirect_to=https://evil.example&state=evil&client_id=evil',
    bearer(user),
  );
  expect(String(evil.body['url'])).not.toContain('evil');
});

test('a sign-in with a linked identity after all is as any other', async () => {
  const user = await confirmedUser(subject);
  become(someone());
  await link(subject, emulator, user, 'github');
  expect((await userOf(await signInWith(subject, emulator, 'github'))).id).toBe(user.body.user?.id);
});
