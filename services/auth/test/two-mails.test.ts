import { expect, test } from 'vitest';
import { bearer, confirmedUser, someone, startSubject } from './harness.ts';

test('a secure change of address counts both of its mails, sent again as well; without room for both nothing changes', async () => {
  await using subject = await startSubject({
    AUTHSVC_RATE_LIMIT_ENABLED: 'true',
    AUTHSVC_RATE_LIMIT_EMAIL_SENT: '6',
    AUTHSVC_RATE_LIMIT_SENT_SHARE: '1',
    AUTHSVC_SMTP_MAX_FREQUENCY: '1ms',
  });
  const user = await confirmedUser(subject); // one
  subject.clock.advance(1000);
  const put = () => subject.send('PUT', '/user', JSON.stringify({ email: someone() }), bearer(user));
  expect((await put()).status).toBe(200); // three
  subject.clock.advance(1000);
  const again = { type: 'email_change', email: user.body.user?.email };
  expect((await subject.post('/resend', again)).status).toBe(200); // five
  subject.clock.advance(1000);
  await subject.mails();
  const before = await subject.snapshot();
  for (const answer of [
    await put(),
    await subject.post('/resend', again),
    await subject.post('/resend', { ...again, email: someone() }),
  ]) {
    expect(answer.body).toMatchObject({ code: 429, error_code: 'over_email_send_rate_limit' });
  }
  expect(await subject.snapshot()).toBe(before);
  expect((await subject.post('/recover', { email: someone() })).status).toBe(200); // six
  expect((await subject.post('/recover', { email: someone() })).status).toBe(429);
});
