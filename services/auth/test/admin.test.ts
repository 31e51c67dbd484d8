import { randomUUID } from 'node:crypto';
import { hash as argon2 } from '@node-rs/argon2';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Answer,
  bearer,
  confirmedUser,
  PASSWORD,
  readMail,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { bearerOf, madeUser, serviceRole, signIn } from './support/administrators.ts';

let subject: Subject;
let admin: Record<string, string>;
beforeAll(async () => {
  subject = await startSubject({
    AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
    AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  });
});
afterAll(() => subject[Symbol.asyncDispose]());
beforeEach(() => {
  admin = serviceRole(subject);
});

const create = (body: object) => subject.post('/admin/users', body, admin);
const update = (id: unknown, body: object) =>
  subject.send('PUT', `/admin/users/${String(id)}`, JSON.stringify(body), admin);
const somePhone = () => `1555${String(Math.floor(Math.random() * 1e9)).padStart(9, '0')}`;

/** A refusal that left everything as it was. */
async function refused(request: () => Promise<Answer>): Promise<Answer> {
  const before = await subject.snapshot();
  const answer = await request();
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await subject.snapshot()).toBe(before);
  return answer;
}

async function lastAudit() {
  const row = await subject.rows.autocommit().row<{ payload: Record<string, unknown> }>`
    select payload from :schema.audit_log_entries order by age(xmin), ctid desc limit 1`;
  return row?.payload;
}

describe('POST /admin/users', () => {
  it('makes a user with all fields, who can sign in, and mails nothing', async () => {
    const email = someone('Grace');
    const phone = somePhone();
    const mails = (await subject.mails()).length;
    const answer = await create({
      role: 'editor',
      email,
      phone: `+${phone}`,
      password: PASSWORD,
      email_confirm: true,
      phone_confirm: true,
      user_metadata: { name: 'Grace', gone: null },
      app_metadata: { plan: 'pro' },
      ban_duration: 'none',
    });
    expect(answer.status).toBe(200);
    const { id } = answer.body;
    const at = '2026-01-02T03:04:05.678000Z';
    expect(answer.body).toMatchObject({
      aud: 'authenticated',
      role: 'editor',
      email: email.toLowerCase(),
      phone,
      email_confirmed_at: at,
      phone_confirmed_at: at,
      confirmed_at: at,
      user_metadata: { name: 'Grace', email_verified: true, phone_verified: true },
      app_metadata: { provider: 'email', providers: ['email', 'phone'], plan: 'pro' },
      identities: [
        {
          provider: 'email',
          id,
          user_id: id,
          email: email.toLowerCase(),
          identity_data: { sub: id, email_verified: true },
        },
        { provider: 'phone', id, user_id: id, identity_data: { sub: id, phone, phone_verified: true } },
      ],
      is_anonymous: false,
    });
    expect(answer.body).not.toHaveProperty('banned_until');
    expect(answer.body['user_metadata']).not.toHaveProperty('gone');
    expect(await lastAudit()).toEqual({
      action: 'user_signedup',
      actor_id: '00000000-0000-0000-0000-000000000000',
      actor_username: 'service_role',
      actor_via_sso: false,
      log_type: 'team',
      traits: { user_id: id, user_email: email.toLowerCase(), user_phone: phone },
    });
    expect((await signIn(subject, email)).body).toMatchObject({ user: { id, role: 'editor' } });
    expect((await subject.mails()).length).toBe(mails);
  });

  it('makes an unconfirmed user by default, of the default role, without a password', async () => {
    const email = someone();
    const { body } = await create({ email });
    expect(body).toMatchObject({ role: 'authenticated', email, user_metadata: {} });
    expect(body).not.toHaveProperty('email_confirmed_at');
    expect((await signIn(subject, email)).status).toBe(400);
    const row = await subject.rows.autocommit().row<{ encrypted_password: string | null }>`
      select encrypted_password from :schema.users where id = ${body.id}`;
    expect(row).toEqual({ encrypted_password: null });
  });

  it('takes a phone number alone', async () => {
    const phone = somePhone();
    const { body } = await create({ phone, phone_confirm: true, email_confirm: true });
    expect(body).toMatchObject({
      email: '',
      phone,
      app_metadata: { provider: 'phone', providers: ['phone'] },
      identities: [{ provider: 'phone' }],
    });
    expect(body).not.toHaveProperty('email_confirmed_at');
  });

  it('C3: takes the id of the path before the one of the body, and of the body before one of its own', async () => {
    const [inPath, inBody] = [randomUUID(), randomUUID()];
    const named = { email: someone(), id: inBody };
    const path = await subject.post(`/admin/users/${inPath.toUpperCase()}`, named, admin);
    expect(path.body).toMatchObject({ id: inPath, email: named.email });
    const body = await create({ email: someone(), id: inBody });
    expect(body.body.id).toBe(inBody);
  });

  it.each([
    ['argon2id', () => argon2(PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 })],
    ['bcrypt', async () => (await import('bcrypt')).default.hash(PASSWORD, 6)],
  ])('takes a %s hash from elsewhere', async (_, hash) => {
    const user = await madeUser(subject, { password: null, password_hash: await hash() });
    expect((await signIn(subject, user.body['email'])).status).toBe(200);
    expect((await signIn(subject, user.body['email'], 'another one')).status).toBe(400);
  });

  it('takes a Firebase scrypt hash', async () => {
    // From the documentation of firebase/scrypt: the password is user1password.
    const hash =
      '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==';
    const user = await madeUser(subject, { password: '', password_hash: hash });
    expect((await signIn(subject, user.body['email'], 'user1password')).status).toBe(200);
  });

  it('does not hold the password against the policy, but against 72 bytes', async () => {
    expect((await create({ email: someone(), password: 'abc' })).status).toBe(200);
    const long = await refused(() => create({ email: someone(), password: 'é'.repeat(37) }));
    expect(long.body).toMatchObject({
      code: 400,
      error_code: 'validation_failed',
      msg: 'Password cannot be longer than 72 characters',
    });
  });

  it('bans from the first moment', async () => {
    const { body } = await madeUser(subject, { ban_duration: '24h' });
    expect(body['banned_until']).toBe('2026-01-03T03:04:05.678000Z');
    expect((await signIn(subject, body['email'])).body).toMatchObject({ error_code: 'user_banned' });
  });

  it('is refused in the documented order, each check before the next', async () => {
    const taken = await madeUser(subject, { phone: somePhone() });
    const all = {
      email: 'nonsense',
      phone: 'nonsense',
      password: 'a',
      password_hash: 'b',
      id: 'nonsense',
      ban_duration: 'nonsense',
    };
    const steps: [object, number, string, string][] = [
      [
        { ...all, email: '', phone: null },
        400,
        'validation_failed',
        'Cannot create a user without either an email or phone',
      ],
      [all, 400, 'validation_failed', 'Unable to validate email address: invalid format'],
      [
        { email: String(taken.body['email']).toUpperCase() },
        422,
        'email_exists',
        'A user with this email address has already been registered',
      ],
      [{ email: someone() }, 400, 'validation_failed', 'Invalid phone number format (E.164 required)'],
      [
        { phone: `+${String(taken.body['phone'])}` },
        422,
        'phone_exists',
        'Phone number already registered by another user',
      ],
      [
        { phone: somePhone() },
        400,
        'validation_failed',
        'Only a password or a password hash should be provided',
      ],
      [
        { password: '' },
        400,
        'validation_failed',
        'password_hash must be a bcrypt, argon2 or Firebase scrypt hash',
      ],
      [{ password_hash: '' }, 400, 'validation_failed', 'ID must conform to the uuid v4 format'],
      [{ id: '00000000-0000-0000-0000-000000000000' }, 400, 'validation_failed', 'ID cannot be a nil uuid'],
      [
        { id: taken.body.id },
        400,
        'validation_failed',
        'invalid format for ban duration: time: invalid duration "nonsense"',
      ],
      [{ ban_duration: '' }, 422, 'validation_failed', 'A user with this id already exists'],
    ];
    let body = all as object;
    for (const [change, status, error_code, msg] of steps) {
      body = { ...body, ...change };
      const answer = await refused(() => create(body));
      expect(answer.body).toMatchObject({ code: status, error_code, msg });
    }
    expect((await create({ ...body, id: randomUUID() })).status).toBe(200);
  });

  it('refuses a path no user can have, a body that is none, and ones that are too large', async () => {
    const id = await refused(() => subject.post('/admin/users/ada', { email: someone() }, admin));
    expect(id.body).toMatchObject({
      code: 404,
      error_code: 'validation_failed',
      msg: 'user_id must be an UUID',
    });
    for (const [payload, status] of [
      [undefined, 400],
      ['[]', 400],
      ['{"email":1}', 400],
      ['{"email":"a@b.c","email_confirm":"yes"}', 400],
      ['{"email":"a@b.c","user_metadata":[]}', 400],
      ['{"email":"a@b.c","user_metadata":{"a":"\\u0000"}}', 400],
      [`{"email":"a@b.c","app_metadata":${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}}`, 400],
      [`{"email":"a@b.c","role":"${'r'.repeat(256)}"}`, 400],
      [`{"email":"${'a'.repeat(300)}@example.com"}`, 400],
      [`{"email":"a@b.c","user_metadata":{"a":"${'x'.repeat(2 ** 20)}"}}`, 413],
    ] as const) {
      const answer = await refused(() => subject.send('POST', '/admin/users', payload, admin));
      expect([payload?.slice(0, 40), answer.status]).toEqual([payload?.slice(0, 40), status]);
    }
  });

  it('an audience is no longer by the header than by the body: every token of the user has it', async () => {
    const long = 'a'.repeat(300);
    const body = { email: someone(), password: PASSWORD, email_confirm: true };
    const byHeader = () => subject.post('/admin/users', body, { ...admin, 'x-jwt-aud': long });
    for (const request of [() => create({ ...body, aud: long }), byHeader]) {
      const answer = await refused(request);
      expect([answer.status, answer.body['msg']]).toEqual([400, 'aud cannot be longer than 255 bytes']);
    }
  });

  it('ignores what is not its to set', async () => {
    const email = someone();
    const { body } = await create({
      email,
      is_super_admin: true,
      is_sso_user: true,
      is_anonymous: true,
      created_at: '1999-01-01T00:00:00Z',
      encrypted_password: 'plain',
      banned_until: '2999-01-01T00:00:00Z',
      identities: [{ provider: 'github' }],
      deleted_at: '1999-01-01T00:00:00Z',
    });
    expect(body).toMatchObject({
      created_at: '2026-01-02T03:04:05.678000Z',
      is_anonymous: false,
      identities: [{ provider: 'email' }],
    });
    const row = await subject.rows.autocommit().row`
      select encrypted_password, is_sso_user, banned_until, deleted_at from :schema.users where id = ${body.id}`;
    expect(row).toEqual({
      encrypted_password: null,
      is_sso_user: false,
      banned_until: null,
      deleted_at: null,
    });
  });

  it('race: of two for one address, one number or one id one succeeds, the others are told why', async () => {
    for (const [same, error_code] of [
      [{ email: someone() }, 'email_exists'],
      [{ phone: somePhone() }, 'phone_exists'],
      [{ id: randomUUID() }, 'validation_failed'],
    ] as const) {
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => create({ ...('id' in same ? { email: someone() } : {}), ...same })),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, 422, 422, 422, 422, 422]);
      const codes = new Set(
        answers.filter(({ status }) => status === 422).map(({ body }) => body['error_code']),
      );
      expect(codes).toEqual(new Set([error_code]));
    }
  });
});

describe('PUT /admin/users/:user_id', () => {
  it('changes everything at once, without mail, and ends the sessions with the password', async () => {
    const session = await confirmedUser(subject);
    const id = session.body.user?.id;
    const [email, phone] = [someone('new'), somePhone()];
    subject.clock.advance(1000);
    admin = serviceRole(subject);
    const mails = (await subject.mails()).length;
    const answer = await update(id, {
      role: 'editor',
      email,
      phone,
      password: 'battery staple',
      email_confirm: true,
      phone_confirm: true,
      user_metadata: { name: 'Ada', sub: null },
      app_metadata: { plan: 'pro', provider: null },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      id,
      role: 'editor',
      email,
      phone,
      user_metadata: { name: 'Ada', email, email_verified: true, phone_verified: true },
      app_metadata: { plan: 'pro', providers: ['email', 'phone'] },
    });
    expect(answer.body['user_metadata']).not.toHaveProperty('sub');
    expect(answer.body['app_metadata']).not.toHaveProperty('provider');
    const providers = (answer.body['identities'] as Record<string, unknown>[]).map(
      ({ provider, identity_data }) => [provider, identity_data],
    );
    expect(Object.fromEntries(providers)).toMatchObject({
      email: { sub: id, email, email_verified: true },
      phone: { sub: id, phone, phone_verified: true },
    });
    expect(await lastAudit()).toMatchObject({
      action: 'user_modified',
      actor_username: 'service_role',
      traits: { user_id: id, user_email: email, user_phone: phone },
    });
    expect((await subject.get('/user', bearer(session))).body).toMatchObject({
      error_code: 'session_not_found',
    });
    expect(
      (await subject.post('/token?grant_type=refresh_token', { refresh_token: session.body.refresh_token }))
        .status,
    ).toBe(400);
    expect((await signIn(subject, session.body.user?.email)).status).toBe(400);
    expect((await signIn(subject, email, 'battery staple')).body).toMatchObject({ user: { id } });
    expect((await subject.mails()).length).toBe(mails);
  });

  it('leaves what is absent, empty, null or false, and sessions when the password stays', async () => {
    const session = await confirmedUser(subject);
    const { id, email } = session.body.user ?? {};
    for (const body of [
      {},
      {
        email: '',
        phone: '',
        role: '',
        password: '',
        email_confirm: false,
        phone_confirm: false,
        ban_duration: '',
      },
      { email: null, phone: null, role: null, password: null, email_confirm: null, user_metadata: null },
      { email: String(email).toUpperCase() },
    ]) {
      const answer = await update(id, body);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ ...session.body.user, updated_at: answer.body['updated_at'] });
    }
    expect((await subject.get('/user', bearer(session))).status).toBe(200);
    expect((await signIn(subject, email)).status).toBe(200);
  });

  it('a new address without email_confirm is not verified, and its former codes are void', async () => {
    const session = await confirmedUser(subject);
    const { id, email } = session.body.user ?? {};
    await subject.post('/recover', { email });
    const link = readMail((await subject.mails()).at(-1));
    const answer = await update(id, { email: someone() });
    expect(answer.body).toMatchObject({
      user_metadata: { email: answer.body['email'], email_verified: false },
      identities: [{ identity_data: { email: answer.body['email'], email_verified: false } }],
    });
    expect(answer.body).toHaveProperty('email_confirmed_at');
    const late = await refused(() => subject.post('/verify', { type: 'recovery', token_hash: link.token }));
    expect(late.body).toMatchObject({ error_code: 'otp_expired' });
  });

  it('gives a phone user an address, and the other way round', async () => {
    const { body } = await create({ phone: somePhone(), phone_confirm: true });
    const email = someone();
    const answer = await update(body.id, { email, password: PASSWORD, email_confirm: true });
    expect(answer.body).toMatchObject({ app_metadata: { provider: 'phone', providers: ['phone', 'email'] } });
    expect(answer.body['identities']).toHaveLength(2);
    expect((await signIn(subject, email)).status).toBe(200);
  });

  it('gives an anonymous user an address, who is anonymous no more', async () => {
    const anonymous = await subject.post('/signup', {});
    const email = someone();
    const answer = await update(anonymous.body.user?.id, { email, email_confirm: true, password: PASSWORD });
    expect(answer.body).toMatchObject({ is_anonymous: false, email, identities: [{ provider: 'email' }] });
    expect((await signIn(subject, email)).status).toBe(200);
  });

  it('confirms an address, and a stranger who signed it up with it gains nothing', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: 'of the first' });
    subject.clock.advance(61_000);
    admin = serviceRole(subject);
    const { body } = await subject.post('/signup', { email, password: 'of a stranger' });
    const link = readMail((await subject.mails()).at(-1));
    await update(body.id, { email_confirm: true, password: PASSWORD });
    expect((await subject.post('/verify', { type: 'signup', token_hash: link.token })).status).toBe(200);
    expect((await signIn(subject, email, 'of a stranger')).status).toBe(400);
    expect((await signIn(subject, email)).status).toBe(200);
  });

  it('bans, lifts a ban, and leaves it alone', async () => {
    const session = await confirmedUser(subject);
    const { id, email } = session.body.user ?? {};
    expect((await update(id, { ban_duration: '1h30m' })).body['banned_until']).toBeDefined();
    const refresh = { refresh_token: session.body.refresh_token };
    expect((await subject.post('/token?grant_type=refresh_token', refresh)).body).toMatchObject({
      error_code: 'user_banned',
    });
    expect((await subject.get('/user', bearer(session))).status).toBe(403);
    expect((await update(id, { role: 'editor' })).body['banned_until']).toBeDefined();
    expect((await update(id, { ban_duration: 'none' })).body['banned_until']).toBeUndefined();
    expect((await subject.post('/token?grant_type=refresh_token', refresh)).status).toBe(200);
    await update(id, { ban_duration: '1h' });
    subject.clock.advance(3_600_001);
    admin = serviceRole(subject);
    expect((await signIn(subject, email)).status).toBe(200);
  });

  it('a role it gives is what tokens say from then on', async () => {
    const session = await confirmedUser(subject);
    const { id, email } = session.body.user ?? {};
    await update(id, { role: 'service_role' });
    const promoted = await signIn(subject, email);
    expect((await subject.post('/admin/users', { email: someone() }, bearer(promoted))).status).toBe(200);
    await update(id, { role: 'authenticated' });
    const late = await refused(() => subject.post('/admin/users', { email: someone() }, bearer(promoted)));
    expect(late.body).toMatchObject({ error_code: 'not_admin' });
  });

  it('holds the password against the policy, and takes a hash instead', async () => {
    const user = await madeUser(subject);
    const weak = await refused(() => update(user.body.id, { password: 'abc', role: 'editor' }));
    expect(weak.body).toMatchObject({ code: 422, error_code: 'weak_password' });
    const both = await refused(() => update(user.body.id, { password: PASSWORD, password_hash: '$2a$10$x' }));
    expect(both.body).toMatchObject({ msg: 'Only a password or a password hash should be provided' });
    await refused(() => update(user.body.id, { password_hash: 'plain' }));
    const hash = await argon2('from elsewhere', { memoryCost: 8192, timeCost: 1, parallelism: 1 });
    expect((await update(user.body.id, { password_hash: hash })).status).toBe(200);
    expect((await signIn(subject, user.body['email'], 'from elsewhere')).status).toBe(200);
  });

  it('is refused with nothing changed', async () => {
    const [user, other] = [
      await madeUser(subject, { phone: somePhone() }),
      await madeUser(subject, { phone: somePhone() }),
    ];
    for (const [id, body, status, error_code, msg] of [
      ['ada', { role: 'x' }, 404, 'validation_failed', 'user_id must be an UUID'],
      [`${String(user.body.id)}%00`, { role: 'x' }, 404, 'validation_failed', 'user_id must be an UUID'],
      [randomUUID(), { role: 'x' }, 404, 'user_not_found', 'User not found'],
      [randomUUID(), { email: 'nonsense' }, 404, 'user_not_found', 'User not found'],
      [
        user.body.id,
        { role: 'x', email: 'nonsense' },
        400,
        'validation_failed',
        'Unable to validate email address: invalid format',
      ],
      [
        user.body.id,
        { role: 'x', phone: '0' },
        400,
        'validation_failed',
        'Invalid phone number format (E.164 required)',
      ],
      [
        user.body.id,
        { role: 'x', ban_duration: '1 day' },
        400,
        'validation_failed',
        'invalid format for ban duration: time: invalid duration "1 day"',
      ],
      [
        user.body.id,
        { role: 'x', email: other.body['email'] },
        422,
        'email_exists',
        'A user with this email address has already been registered',
      ],
      [
        user.body.id,
        { role: 'x', phone: other.body['phone'] },
        422,
        'phone_exists',
        'A user with this phone number has already been registered',
      ],
    ] as const) {
      const answer = await refused(() => update(id, body));
      expect(answer.body).toMatchObject({ code: status, error_code, msg });
    }
  });

  it('keeps odd metadata of an application, whatever it looks like', async () => {
    const { body } = await madeUser(subject, { app_metadata: { providers: 'none of your business' } });
    const answer = await update(body.id, { phone: somePhone(), app_metadata: { deep: { a: null } } });
    expect(answer.body['app_metadata']).toEqual({
      provider: 'email',
      providers: 'none of your business',
      deep: { a: null },
    });
  });

  it('race: an update against a deletion is done or finds nobody', async () => {
    for (let round = 0; round < 5; round++) {
      const { body } = await madeUser(subject);
      const [answer] = await Promise.all([
        update(body.id, { role: 'editor' }),
        subject.rows.autocommit().run`delete from :schema.users where id = ${body.id}`,
      ]);
      expect([200, 404]).toContain(answer.status);
      expect((await update(body.id, { role: 'editor' })).body).toMatchObject({
        error_code: 'user_not_found',
      });
    }
  });

  it('race: two users want one address, one gets it', async () => {
    const users = await Promise.all([madeUser(subject), madeUser(subject), madeUser(subject)]);
    const email = someone();
    const answers = await Promise.all(users.map(({ body }) => update(body.id, { email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
  });
});

describe('who may not', () => {
  const requests: [string, string, object][] = [
    ['POST', '/admin/users', { email: someone() }],
    ['POST', `/admin/users/${randomUUID()}`, { email: someone() }],
    ['PUT', `/admin/users/${randomUUID()}`, { role: 'service_role' }],
    ['POST', '/admin/generate_link', { type: 'magiclink', email: someone() }],
    ['POST', '/invite', { email: someone() }],
  ];

  it('nobody, users, and those who were administrators are refused, before their body is read', async () => {
    const session = await confirmedUser(subject);
    const userId = session.body.user?.id;
    const banned = await madeUser(subject, { role: 'service_role' });
    const bannedSession = await signIn(subject, banned.body['email']);
    await update(banned.body.id, { ban_duration: '24h' });
    const gone = await madeUser(subject, { role: 'service_role' });
    const goneSession = await signIn(subject, gone.body['email']);
    await subject.post('/logout', undefined, bearer(goneSession));
    const nowSeconds = Math.floor(subject.clock.now().getTime() / 1000);
    const callers: [string, Record<string, string>, number, string][] = [
      ['nobody', {}, 401, 'no_authorization'],
      ['a user', bearer(session), 403, 'not_admin'],
      [
        'a user who says so in metadata',
        bearerOf(subject, { role: 'authenticated', app_metadata: { role: 'service_role' }, sub: userId }),
        403,
        'not_admin',
      ],
      ['a role that is like one', bearerOf(subject, { role: 'service_role ' }), 403, 'not_admin'],
      ['an expired token', bearerOf(subject, { role: 'service_role', exp: nowSeconds - 1 }), 403, 'bad_jwt'],
      ['another key', { authorization: `${String(admin['authorization'])}x` }, 403, 'bad_jwt'],
      ['a banned administrator', bearer(bannedSession), 403, 'user_banned'],
      ['one who signed out', bearer(goneSession), 403, 'session_expired'],
    ];
    for (const [method, path, body] of requests) {
      for (const [who, headers, status, error_code] of callers) {
        for (const payload of [JSON.stringify(body), '{"email":', '[]']) {
          const answer = await refused(() => subject.send(method, path, payload, headers));
          expect([who, path, answer.status, answer.body['error_code']]).toEqual([
            who,
            path,
            status,
            error_code,
          ]);
        }
      }
    }
  });
});
