import { silentLog } from '@croft/runtime';
import { Secret } from '@croft/settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAdministrator, openAdminTasks } from '../src/index.ts';
import { confirmedUser, PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { bearerOf, madeUser, serviceRole } from './support/administrators.ts';

const NOBODY = '00000000-0000-0000-0000-000000000000';

let subject: Subject;
/** Somebody who administrates with a token of their own. */
let admin: { id: string; headers: Record<string, string> };
beforeAll(async () => {
  subject = await startSubject();
  const { user } = (await confirmedUser(subject, someone('admin'))).body;
  const id = user?.id ?? '';
  admin = { id, headers: bearerOf(subject, { role: 'service_role', sub: id }) };
});
afterAll(() => subject[Symbol.asyncDispose]());

/** The entries that the work wrote. */
async function written(work: () => Promise<unknown>): Promise<object[]> {
  const rows = subject.rows.autocommit();
  const known = await rows.rows<{ id: string }>`select id from :schema.audit_log_entries`;
  await work();
  const entries = await rows.rows<{ payload: object }>`
    select payload from :schema.audit_log_entries where not id = any (${known.map(({ id }) => id)}::uuid[])`;
  return entries.map(({ payload }) => payload);
}
const addressed = (traits: object) => ({ actor_id: NOBODY, actor_username: 'service_role', traits });

describe('what an administrator does names the administrator', () => {
  it('making, changing and inviting users', async () => {
    const [email, guest] = [someone(), someone('guest')];
    let id: unknown;
    const made = await written(async () => {
      const answer = await subject.post('/admin/users', { email, email_confirm: true }, admin.headers);
      id = answer.body.id;
    });
    const traits = { user_id: id, user_email: email, admin_id: admin.id };
    expect(made).toMatchObject([{ action: 'user_signedup', ...addressed(traits) }]);
    const changed = await written(() =>
      subject.send('PUT', `/admin/users/${String(id)}`, '{"role":"editor"}', {
        ...admin.headers,
        'content-type': 'application/json',
      }),
    );
    expect(changed).toMatchObject([{ action: 'user_modified', ...addressed(traits) }]);
    const invited = await written(() => subject.post('/invite', { email: guest }, admin.headers));
    expect(invited).toMatchObject([
      { action: 'user_invited', ...addressed({ user_email: guest, admin_id: admin.id }) },
    ]);
    const again = await written(() => subject.post('/invite', { email: guest }, admin.headers));
    expect(again).toMatchObject([{ action: 'user_invited', traits: { admin_id: admin.id } }]);
  });

  it.each(['email_change_current', 'email_change_new'])(
    'a link of type %s, which says who changes',
    async (type) => {
      const { id, email } = (await madeUser(subject)).body;
      const wanted = { type, email, new_email: someone('new') };
      const entries = await written(() => subject.post('/admin/generate_link', wanted, admin.headers));
      expect(entries).toMatchObject([
        { action: 'user_modified', ...addressed({ user_id: id, user_email: email, admin_id: admin.id }) },
      ]);
    },
  );

  it.each(['magiclink', 'recovery'])(
    'a link of type %s: the actor is the user, beside who asked for it',
    async (type) => {
      const { id, email } = (await madeUser(subject)).body;
      const entries = await written(() =>
        subject.post('/admin/generate_link', { type, email }, admin.headers),
      );
      expect(entries).toMatchObject([
        {
          action: 'user_recovery_requested',
          actor_id: id,
          traits: { admin_role: 'service_role', admin_id: admin.id },
        },
      ]);
    },
  );

  it('a token without a user names its role only', async () => {
    const { email } = (await madeUser(subject)).body;
    const wanted = { type: 'email_change_new', email, new_email: someone('new') };
    const [entry] = await written(() => subject.post('/admin/generate_link', wanted, serviceRole(subject)));
    expect(entry).toMatchObject({ actor_username: 'service_role' });
    expect(entry).not.toHaveProperty('traits.admin_id');
  });

  it('a refusal writes nothing', async () => {
    const { email } = (await madeUser(subject)).body;
    const taken = (await madeUser(subject)).body['email'];
    const before = await subject.snapshot();
    const wanted = { type: 'email_change_new', email, new_email: taken };
    expect((await subject.post('/admin/generate_link', wanted, admin.headers)).status).toBe(422);
    expect(await subject.snapshot()).toBe(before);
  });
});

describe('the command line', () => {
  const options = () => ({
    settings: subject.context.settings,
    databaseUrl: subject.databaseUrl,
    log: silentLog,
    secrets: { atRestKey: new Secret('an at-rest key of the tests') },
  });

  it('is named as who made an administrator; the second time nothing is written', async () => {
    const email = someone('root');
    const make = () => createAdministrator({ ...options(), email, password: PASSWORD });
    expect(await written(make)).toMatchObject([
      {
        action: 'user_signedup',
        actor_id: NOBODY,
        actor_username: 'command line',
        traits: { user_id: expect.stringMatching(/^[\da-f-]{36}$/), user_email: email },
      },
    ]);
    expect(await written(make)).toEqual([]);
  });

  it('is named as who made the link of a change', async () => {
    const { email } = (await madeUser(subject)).body;
    const tasks = await openAdminTasks({ ...options(), version: '' });
    const link = { type: 'email_change_new', email: String(email), newEmail: someone('new') };
    const entries = await written(() => tasks.generateLink({ ...link, password: '', redirectTo: '' }));
    await tasks.close();
    expect(entries).toMatchObject([{ action: 'user_modified', actor_username: 'command line' }]);
  });
});
