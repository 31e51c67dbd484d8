import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CURRENT_CONFIRMED } from '../src/rules/addresses/email-change.ts';
import { type Answer, confirmedUser, PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { madeUser, serviceRole, signIn } from './support/administrators.ts';
import { waiting, whileLocked } from './support/meeting.ts';

let subject: Subject;
let admin: Record<string, string>;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_URI_ALLOW_LIST: 'https://app.example/**' });
});
afterAll(() => subject[Symbol.asyncDispose]());
beforeEach(() => {
  admin = serviceRole(subject);
});

const generate = (body: object, query = '') => subject.post(`/admin/generate_link${query}`, body, admin);

async function refused(request: () => Promise<Answer>): Promise<Answer> {
  const before = await subject.snapshot();
  const answer = await request();
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await subject.snapshot()).toBe(before);
  return answer;
}

/** What every answer must be: the parts fit each other, and nothing was put into the outbox. */
async function linkIn(answer: Answer, linkType: string): Promise<{ url: URL; token: string; code: string }> {
  expect(answer.status).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  const { action_link, hashed_token, email_otp, redirect_to } = answer.body as Record<string, string>;
  const url = new URL(action_link ?? '');
  expect(url.origin + url.pathname).toBe('https://auth.example/verify');
  expect(Object.fromEntries(url.searchParams)).toEqual({ token: hashed_token, type: linkType, redirect_to });
  expect(hashed_token).toMatch(/^[0-9a-f]{56}$/);
  expect(email_otp).toMatch(/^\d{6}$/);
  const waiting = await subject.rows.autocommit().row`select count(*) as rows from :schema.outbox`;
  expect(waiting).toEqual({ rows: 0 });
  return { url, token: hashed_token ?? '', code: email_otp ?? '' };
}

describe('POST /admin/generate_link', () => {
  it('signup: makes the user, and the link confirms it', async () => {
    const email = someone();
    const answer = await generate({ type: 'signup', email, password: PASSWORD, data: { name: 'Ada' } });
    const { url } = await linkIn(answer, 'signup');
    expect(answer.body).toMatchObject({
      email,
      verification_type: 'signup',
      redirect_to: 'https://site.example',
      user_metadata: { name: 'Ada' },
      identities: [{ provider: 'email' }],
    });
    expect((await signIn(subject, email)).body).toMatchObject({ error_code: 'email_not_confirmed' });
    const opened = await subject.get(url.pathname + url.search);
    expect(opened.headers['location']).toMatch(/^https:\/\/site\.example\/?#access_token=/);
    expect((await signIn(subject, email)).status).toBe(200);
  });

  it('signup of an unconfirmed address: its password and data count once it is proven', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: 'of a stranger', data: { evil: true } });
    await subject.mails();
    const answer = await generate({ type: 'signup', email, password: PASSWORD, data: { name: 'Ada' } });
    const { code } = await linkIn(answer, 'signup');
    const verified = await subject.post('/verify', { type: 'signup', email, token: code });
    expect(verified.body.user).toMatchObject({ user_metadata: { name: 'Ada' } });
    expect(verified.body.user?.['user_metadata']).not.toHaveProperty('evil');
    expect((await signIn(subject, email, 'of a stranger')).status).toBe(400);
    expect((await signIn(subject, email)).status).toBe(200);
  });

  it.each([
    ['a link', '/admin/generate_link', { type: 'signup', password: 'the first one', data: { name: 'Ad' } }],
    ['an invitation', '/invite', { data: { name: 'Ad' } }],
    ['an administrator', '/admin/users', { password: 'the first one', user_metadata: { name: 'Ad' } }],
  ])('signup of an unconfirmed address that is there by %s: likewise', async (_, path, body) => {
    const email = someone();
    await subject.post(path, { email, ...body }, admin);
    await subject.mails();
    const answer = await generate({ type: 'signup', email, password: PASSWORD, data: { name: 'Ada' } });
    const { token } = await linkIn(answer, 'signup');
    expect((await signIn(subject, email)).body).toMatchObject({ error_code: 'email_not_confirmed' });
    const verified = await subject.post('/verify', { type: 'signup', token_hash: token });
    expect(verified.body.user).toMatchObject({ user_metadata: { name: 'Ada' } });
    expect((await signIn(subject, email, 'the first one')).status).toBe(400);
    expect((await signIn(subject, email)).status).toBe(200);
  });

  it('signup of an unconfirmed address beside a confirmed number leaves the password', async () => {
    const [email, phone] = [someone(), '14155550142'];
    await subject.post(
      '/admin/users',
      { email, phone, password: 'the holder’s', phone_confirm: true },
      admin,
    );
    const { token } = await linkIn(await generate({ type: 'signup', email, password: PASSWORD }), 'signup');
    expect((await subject.post('/verify', { type: 'signup', token_hash: token })).status).toBe(200);
    expect((await signIn(subject, email)).status).toBe(400);
    expect((await signIn(subject, email, 'the holder’s')).status).toBe(200);
  });

  it.each(['magiclink', 'recovery'])('%s: signs a user in by link and by code', async (type) => {
    const user = await madeUser(subject);
    const email = String(user.body['email']);
    const byLink = await linkIn(await generate({ type, email }), type);
    expect((await subject.post('/verify', { type, token_hash: byLink.token })).body).toMatchObject({
      type,
      user: { email },
    });
    const answer = await generate({ type, email: email.toUpperCase() });
    expect(answer.body).toMatchObject({ id: user.body.id, verification_type: type });
    expect(answer.body).toHaveProperty('recovery_sent_at');
    const { code } = await linkIn(answer, type);
    expect((await subject.post('/verify', { type, email, token: code })).status).toBe(200);
    expect(
      (await subject.audit()).filter((action) => action === 'user_recovery_requested').length,
    ).toBeGreaterThan(0);
  });

  it('magiclink for an address nobody has: becomes a sign-up without a password', async () => {
    const email = someone();
    const answer = await generate({ type: 'magiclink', email, data: { name: 'Ada' } });
    const { token } = await linkIn(answer, 'signup');
    expect(answer.body).toMatchObject({ verification_type: 'signup', user_metadata: { name: 'Ada' } });
    expect((await subject.post('/verify', { type: 'signup', token_hash: token })).status).toBe(200);
  });

  it('invite: makes the user or invites again, and nothing is mailed', async () => {
    const email = someone();
    const first = await generate({ type: 'invite', email, data: { team: 'core' } });
    await linkIn(first, 'invite');
    const again = await generate({ type: 'invite', email });
    const { token } = await linkIn(again, 'invite');
    expect(again.body).toMatchObject({
      id: first.body.id,
      verification_type: 'invite',
      user_metadata: { team: 'core' },
    });
    expect(again.body).toHaveProperty('invited_at');
    const verified = await subject.post('/verify', { type: 'invite', token_hash: token, password: PASSWORD });
    expect(verified.status).toBe(200);
    expect((await signIn(subject, email)).status).toBe(200);
  });

  it('email_change: both links together change the address, and another change voids them', async () => {
    const user = await madeUser(subject);
    const email = String(user.body['email']);
    const newEmail = someone('new');
    const stale = await linkIn(
      await generate({ type: 'email_change_current', email, new_email: someone('other') }),
      'email_change',
    );
    const current = await generate({ type: 'email_change_current', email, new_email: newEmail });
    expect(current.body).toMatchObject({
      email,
      new_email: newEmail,
      verification_type: 'email_change_current',
    });
    const next = await generate({ type: 'email_change_new', email, new_email: newEmail });
    const [one, two] = [await linkIn(current, 'email_change'), await linkIn(next, 'email_change')];
    const late = await refused(() =>
      subject.post('/verify', { type: 'email_change', token_hash: stale.token }),
    );
    expect(late.status).toBe(403);
    await subject.post('/verify', { type: 'email_change', token_hash: one.token });
    await subject.post('/verify', { type: 'email_change', token_hash: two.token });
    expect((await signIn(subject, newEmail)).status).toBe(200);
    expect((await signIn(subject, email)).status).toBe(400);
  });

  it('email_change: a link of a change that began while it waited takes nothing back of that', async () => {
    const { id, email } = (await madeUser(subject)).body;
    const newEmail = someone('new');
    // The other link was made meanwhile, and its address has agreed.
    const { made } = await whileLocked(
      subject,
      (tx) => tx.run`
        update :schema.users set email_change = ${newEmail}, email_change_confirm_status = ${CURRENT_CONFIRMED},
          email_change_begun_at = ${subject.clock.now()} where id = ${id}::uuid`,
      async () => {
        const made = generate({ type: 'email_change_new', email, new_email: newEmail });
        await waiting(subject, 1);
        return { made };
      },
    );
    const { token } = await linkIn(await made, 'email_change');
    const verified = await subject.post('/verify', { type: 'email_change', token_hash: token });
    expect(verified.body).toMatchObject({ user: { email: newEmail } });
  });

  it('email_change: none is made for an address that its user gave up while it waited', async () => {
    const { id, email } = (await madeUser(subject)).body;
    const moved = someone('moved');
    const { refusing } = await whileLocked(
      subject,
      (tx) => tx.run`update :schema.users set email = ${moved} where id = ${id}::uuid`,
      async () => {
        const refusing = generate({ type: 'email_change_current', email, new_email: someone('new') });
        await waiting(subject, 1);
        return { refusing };
      },
    );
    expect((await refusing).body).toMatchObject({ error_code: 'conflict' });
    const left = await subject.rows.autocommit().row`
      select email_change, email_change_sent_at, (select count(*) from :schema.one_time_tokens where user_id = u.id) as codes,
        (select count(*) from :schema.audit_log_entries where payload ->> 'action' = 'user_modified'
          and payload -> 'traits' ->> 'user_id' = u.id::text) as entries
      from :schema.users u where id = ${id}::uuid`;
    expect(left).toEqual({ email_change: null, email_change_sent_at: null, codes: 0, entries: 0 });
  });

  it('the redirect of the body counts if it is permitted, else that of the request', async () => {
    const { body } = await madeUser(subject);
    const link = { type: 'magiclink', email: body['email'] };
    const query = '?redirect_to=https://app.example/query';
    const to = async (redirect_to: string | undefined, more = '') =>
      (await generate({ ...link, redirect_to }, more)).body['redirect_to'];
    expect(await to('https://app.example/body?a=b&c', query)).toBe('https://app.example/body?a=b&c');
    expect(await to('https://evil.example', query)).toBe('https://app.example/query');
    expect(await to('javascript:alert(1)')).toBe('https://site.example');
    expect(await to(undefined)).toBe('https://site.example');
    const halved = await generate({ ...link, redirect_to: 'https://app.example/\ud800' });
    expect([halved.status, halved.body['action_link']]).toEqual([
      200,
      expect.stringMatching(/app\.example%2F%EF%BF%BD$/),
    ]);
  });

  it('has no limit of frequency, and each link voids the one before', async () => {
    const { body } = await madeUser(subject);
    const links = [];
    for (let round = 0; round < 3; round++) {
      links.push(await linkIn(await generate({ type: 'recovery', email: body['email'] }), 'recovery'));
    }
    for (const [index, { token }] of links.entries()) {
      const answer = await subject.post('/verify', { type: 'recovery', token_hash: token });
      expect(answer.status).toBe(index === 2 ? 200 : 403);
    }
  });

  it('is refused with nothing changed', async () => {
    const session = await confirmedUser(subject);
    const { email } = session.body.user ?? {};
    const exists = 'A user with this email address has already been registered';
    for (const [body, status, error_code, msg] of [
      [{ type: 'signup', email: '' }, 400, 'validation_failed', 'An email address is required'],
      [{ type: 'recovery', email: someone() }, 404, 'user_not_found', 'User with this email not found'],
      [
        { type: 'email_change_new', email: someone(), new_email: someone() },
        404,
        'user_not_found',
        'User with this email not found',
      ],
      [{ type: 'signup', email: someone() }, 400, 'validation_failed', 'Signup requires a valid password'],
      [
        { type: 'signup', email: someone(), password: 'abc' },
        422,
        'weak_password',
        'Password should be at least 6 characters.',
      ],
      [{ type: 'signup', email, password: PASSWORD }, 422, 'email_exists', exists],
      [{ type: 'invite', email }, 422, 'email_exists', exists],
      [
        { type: 'email_change_new', email, new_email: '' },
        400,
        'validation_failed',
        'An email address is required',
      ],
      [
        { type: 'email_change_new', email, new_email: (await madeUser(subject)).body['email'] },
        422,
        'email_exists',
        exists,
      ],
      [
        { type: 'reauthentication', email },
        400,
        'validation_failed',
        'Invalid email action link type requested: reauthentication',
      ],
      [
        { type: '__proto__', email },
        400,
        'validation_failed',
        'Invalid email action link type requested: __proto__',
      ],
      [{ email }, 400, 'validation_failed', 'Invalid email action link type requested: '],
    ] as const) {
      const answer = await refused(() => generate(body));
      expect(answer.body).toMatchObject({ code: status, error_code, msg });
    }
  });

  it('a magic link for an unconfirmed address forgets what a stranger put there', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: 'of a stranger' });
    await subject.mails();
    const { token } = await linkIn(await generate({ type: 'magiclink', email }), 'magiclink');
    expect((await subject.post('/verify', { type: 'magiclink', token_hash: token })).status).toBe(200);
    expect((await signIn(subject, email, 'of a stranger')).status).toBe(400);
  });

  it('race: several links for one new address are one account', async () => {
    const email = someone();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => generate({ type: 'magiclink', email })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });
});

it('without secure changes there is no link for the present address, and the other one is enough', async () => {
  await using plain = await startSubject({ AUTHSVC_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false' });
  const user = await madeUser(plain);
  const link = { email: user.body['email'], new_email: someone('new') };
  const before = await plain.snapshot();
  const refusal = await plain.post(
    '/admin/generate_link',
    { ...link, type: 'email_change_current' },
    serviceRole(plain),
  );
  expect(refusal.body).toMatchObject({
    code: 400,
    msg: 'Enable secure email change to generate link for current email',
  });
  expect(await plain.snapshot()).toBe(before);
  const made = await plain.post(
    '/admin/generate_link',
    { ...link, type: 'email_change_new' },
    serviceRole(plain),
  );
  const verified = await plain.post('/verify', {
    type: 'email_change',
    token_hash: made.body['hashed_token'],
  });
  expect(verified.body.user).toMatchObject({ email: link.new_email });
});
