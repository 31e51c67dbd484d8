import { expect, test } from 'vitest';
import { leave } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';

const { subject } = await externalSubject(['github']);
const flows = async () =>
  await subject.rows.autocommit().row`select count(*) as count from :schema.flow_state`;

test('attack: scopes count among what the address of a provider has room for', async () => {
  const most = await leave(subject, 'github', { scopes: 's'.repeat(4_000), login: 'x'.repeat(80) });
  expect([most.status, new URL(most.location).searchParams.get('scope')]).toEqual([
    302,
    `user:email ${'s'.repeat(4_000)}`,
  ]);
  const before = await flows();
  for (const more of [
    { scopes: 's'.repeat(4_097) },
    { scopes: 'a,'.repeat(100_000) },
    { scopes: 's'.repeat(4_000), login: 'x'.repeat(100) },
  ]) {
    const refused = await leave(subject, 'github', more);
    expect([refused.status, JSON.parse(refused.body), refused.setCookie]).toEqual([
      400,
      expect.objectContaining({
        error_code: 'validation_failed',
        msg: 'At most 50 parameters with 4096 characters can be passed on to the provider',
      }),
      '',
    ]);
  }
  expect(await flows()).toEqual(before);
});
