import { describe, expect, it } from 'vitest';
import { bearer, confirmedUser } from './harness.ts';
import { capturedSms, lastCode } from './support/captured-sms.ts';
import { meet } from './support/meeting.ts';
import {
  changePhone,
  confirmedPhone,
  MINUTE,
  personOf,
  refused,
  signIn,
  signUp,
  somePhone,
  start,
  verify,
  wrong,
} from './support/phones.ts';

describe('a change of number', () => {
  it('comes into force with the code that went to the new one', async () => {
    await using subject = await start();
    const phone = somePhone();
    const wanted = somePhone();
    const session = await confirmedPhone(subject, phone);
    expect(await changePhone(subject, session, `+${wanted}`)).toBe(`${phone} → ${wanted}`);
    const sms = (await capturedSms(subject)).at(-1);
    expect(sms?.to).toBe(wanted);
    expect((await verify(subject, wanted, sms?.code ?? '', 'sms')).status).toBe(403);
    expect((await signIn(subject, phone)).status).toBe(200);
    const answer = await verify(subject, wanted, sms?.code ?? '', 'phone_change');
    expect(answer.status).toBe(200);
    expect(answer.body.user).toMatchObject({ id: session.body.user?.id, phone: wanted });
    expect(answer.body.user?.['new_phone']).toBeUndefined();
    expect(answer.body.user?.['identities']).toMatchObject([
      { provider: 'phone', identity_data: { phone: wanted } },
    ]);
    expect((await signIn(subject, phone)).status).toBe(400);
    expect((await signIn(subject, wanted)).status).toBe(200);
    expect(await subject.audit()).toContain('user_modified');
  });

  it('gives a number to who had none', async () => {
    await using subject = await start();
    const session = await confirmedUser(subject);
    const phone = somePhone();
    await changePhone(subject, session, phone);
    const answer = await verify(subject, phone, await lastCode(subject, phone), 'phone_change');
    expect(answer.body.user).toMatchObject({
      id: session.body.user?.id,
      email: session.body.user?.email,
      phone,
    });
    expect(answer.body.user?.['identities']).toMatchObject([{ provider: 'email' }, { provider: 'phone' }]);
  });

  it('makes a person of an anonymous user', async () => {
    await using subject = await start({ AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' });
    const session = await subject.post('/signup', {});
    expect(session.body.user).toMatchObject({ is_anonymous: true });
    const phone = somePhone();
    await changePhone(subject, session, phone);
    expect((await subject.get('/user', bearer(session))).body).toMatchObject({
      is_anonymous: true,
      phone: '',
    });
    const answer = await verify(subject, phone, await lastCode(subject, phone), 'phone_change');
    expect(answer.body.user).toMatchObject({
      id: session.body.user?.id,
      phone,
      is_anonymous: false,
      app_metadata: { provider: 'phone', providers: ['phone'] },
      identities: [{ provider: 'phone', identity_data: { phone, phone_verified: true } }],
    });
  });

  it('is refused for a number that is taken, and is nothing for the present one', async () => {
    await using subject = await start();
    const phone = somePhone();
    const taken = somePhone();
    const session = await confirmedPhone(subject, phone);
    await confirmedPhone(subject, taken);
    const before = await subject.snapshot();
    expect(await changePhone(subject, session, taken)).toBe('phone_exists');
    expect(await changePhone(subject, session, '12x')).toBe('validation_failed');
    expect(await subject.snapshot()).toBe(before);
    const sent = (await capturedSms(subject)).length;
    expect(await changePhone(subject, session, `+${phone}`)).toBe(`${phone} → `);
    expect(await capturedSms(subject)).toHaveLength(sent);
  });

  it('is refused when somebody took the number meanwhile', async () => {
    await using subject = await start();
    const wanted = somePhone();
    const session = await confirmedPhone(subject, somePhone());
    await changePhone(subject, session, wanted);
    const code = await lastCode(subject, wanted);
    await subject.rows.autocommit()
      .run`insert into :schema.users (id, phone, created_at, updated_at, raw_app_meta_data,
      raw_user_meta_data) values (gen_random_uuid(), ${wanted}, now(), now(), '{}', '{}')`;
    const answer = await refused(subject, () => verify(subject, wanted, code, 'phone_change'));
    expect(answer.slice(0, 2)).toEqual([422, 'phone_exists']);
  });

  it('is no machine to send messages with: neither to one number nor to many', async () => {
    await using subject = await start();
    const session = await confirmedPhone(subject, somePhone());
    const wanted = Array.from({ length: 10 }, somePhone);
    const sent = (await capturedSms(subject)).length;
    const outcomes = await Promise.all(wanted.map((phone) => changePhone(subject, session, phone)));
    expect(outcomes.filter((one) => one === 'over_sms_send_rate_limit')).toHaveLength(9);
    expect(await capturedSms(subject)).toHaveLength(sent + 1);
    subject.clock.advance(MINUTE);
    const victim = somePhone();
    const others = [await confirmedPhone(subject, somePhone()), await confirmedPhone(subject, somePhone())];
    const before = (await capturedSms(subject)).length;
    for (const other of others) await changePhone(subject, other, victim);
    expect(await capturedSms(subject)).toHaveLength(before + 1);
  });

  it('of two accounts to one number goes to the one whose code was typed', async () => {
    await using subject = await start({ AUTHSVC_SMS_OTP_EXP: '600' });
    const wanted = somePhone();
    const stranger = await confirmedPhone(subject, somePhone());
    const owner = await confirmedPhone(subject, somePhone());
    await changePhone(subject, stranger, wanted);
    await capturedSms(subject);
    subject.clock.advance(MINUTE);
    await changePhone(subject, owner, wanted);
    const answer = await verify(subject, wanted, await lastCode(subject, wanted), 'phone_change');
    expect(answer.body.user?.id).toBe(owner.body.user?.id);
  });

  it('is made once by the same request twice at once', async () => {
    await using subject = await start({ AUTHSVC_SMS_AUTOCONFIRM: 'true' });
    const session = await confirmedUser(subject, 'twice@example.com');
    const wanted = somePhone();
    const change = () => subject.send('PUT', '/user', JSON.stringify({ phone: wanted }), bearer(session));
    const { first, second } = await meet(subject, String(session.body.user?.id), change, change);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect((await personOf(subject, session)).identities.map(({ provider }) => provider).sort()).toEqual([
      'email',
      'phone',
    ]);
  });

  it('needs no code where numbers need no confirmation', async () => {
    await using subject = await start({ AUTHSVC_SMS_AUTOCONFIRM: 'true' });
    const taken = somePhone();
    await signUp(subject, taken);
    const session = await signUp(subject, somePhone());
    const wanted = somePhone();
    expect(await changePhone(subject, session, taken)).toBe('phone_exists');
    expect(await changePhone(subject, session, wanted)).toBe(`${wanted} → `);
    expect((await signIn(subject, wanted)).status).toBe(200);
    expect(await capturedSms(subject)).toHaveLength(0);
  });

  it('can be sent once more to the wanted number by way of the present one', async () => {
    await using subject = await start();
    const phone = somePhone();
    const wanted = somePhone();
    const session = await confirmedPhone(subject, phone);
    await changePhone(subject, session, wanted);
    await capturedSms(subject);
    subject.clock.advance(MINUTE);
    const { body } = await subject.post('/resend', { type: 'phone_change', phone });
    const sms = (await capturedSms(subject)).at(-1);
    expect(sms).toMatchObject({ to: wanted, id: body['message_id'] });
    expect((await verify(subject, wanted, sms?.code ?? '', 'phone_change')).status).toBe(200);
  });
});

describe('reauthentication by SMS', () => {
  it('sends a nonce that is good for that only', async () => {
    await using subject = await start({
      AUTHSVC_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
      AUTHSVC_JWT_EXP: '200000',
    });
    const phone = somePhone();
    const session = await confirmedPhone(subject, phone);
    subject.clock.advance(25 * 60 * MINUTE);
    const { status, body } = await subject.get('/reauthenticate', bearer(session));
    expect(status).toBe(200);
    const sms = (await capturedSms(subject)).at(-1);
    expect(sms).toMatchObject({ to: phone, id: body['message_id'] });
    const code = sms?.code ?? '';
    expect((await verify(subject, phone, code)).status).toBe(403);
    const soon = await refused(subject, () => subject.get('/reauthenticate', bearer(session)));
    expect(soon.slice(0, 2)).toEqual([429, 'over_sms_send_rate_limit']);
    const change = (nonce: string) =>
      subject.send('PUT', '/user', JSON.stringify({ password: 'a new password', nonce }), bearer(session));
    expect((await change('')).body['error_code']).toBe('reauthentication_needed');
    expect((await change(wrong(code))).body['error_code']).toBe('reauthentication_not_valid');
    expect((await signIn(subject, phone)).status).toBe(200);
    expect((await change(code)).status).toBe(200);
    expect((await signIn(subject, phone, 'a new password')).status).toBe(200);
    expect((await change(code)).body['error_code']).toBe('reauthentication_not_valid');
  });
});
