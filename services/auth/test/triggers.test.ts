import { afterEach, expect, test } from 'vitest';
import { PASSWORD, someone } from './harness.ts';
import { serviceRole } from './support/administrators.ts';
import { signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';

// What applications of GoTrue have on its table of users: a trigger that gives each user a row of the application's own, or
// refuses one.

const { subject, emulator, become } = await externalSubject(['github'], {
  AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
});
const rows = subject.rows.autocommit();

const onNewUsers = (body: string) =>
  rows.script(`
    create table public.profiles (id uuid primary key references auth.users on delete cascade, name text);
    create function public.on_new_user() returns trigger language plpgsql security definer as $$ begin ${body} return new; end $$;
    create trigger on_new_user after insert on auth.users for each row execute function public.on_new_user();`);
afterEach(() =>
  rows.script(
    'drop trigger on_new_user on auth.users; drop function public.on_new_user(); drop table public.profiles;',
  ),
);

const signUp = (email: string, headers: Record<string, string> = {}) =>
  subject.post('/signup', { email, password: PASSWORD, data: { name: 'Ada' } }, headers);

test('one makes a row for whoever comes, whichever way', async () => {
  await onNewUsers(`insert into public.profiles values (new.id, new.raw_user_meta_data ->> 'name');`);
  expect((await signUp(someone())).status).toBe(200);
  expect((await subject.post('/signup', {})).status).toBe(200);
  expect((await subject.post('/otp', { email: someone() })).status).toBe(200);
  expect((await subject.post('/admin/users', { email: someone() }, serviceRole(subject))).status).toBe(200);
  become(someone());
  expect((await signInWith(subject, emulator, 'github')).fragment.get('access_token')).not.toBeNull();
  expect(await rows.row`select count(*) as count from public.profiles`).toEqual({ count: 5 });
});

test.each([
  ['P0001', 500, ''],
  ['PT422', 422, ` using errcode = 'PT422', hint = 'Ask Ada'`],
])('what one raises with %s is told in its words, and nobody is made', async (code, status, using) => {
  await onNewUsers(`raise exception 'Not from here'${using};`);
  const before = await subject.snapshot();
  const words = { code, message: 'Not from here', ...(using === '' ? {} : { hint: 'Ask Ada' }) };
  expect(await signUp(someone())).toMatchObject({ status, body: words });
  const versioned = { 'x-supabase-api-version': '2024-01-01' };
  expect(await signUp(someone(), versioned)).toMatchObject({ status, body: words });
  become(someone());
  const back = await signInWith(subject, emulator, 'github');
  expect(back.location.startsWith('https://site.example')).toBe(true);
  expect(back.fragment.get('error_description')).toBe('Not from here');
  expect(await subject.snapshot()).toBe(before);
});

test('one that fails tells nothing of what it failed with, and the browser gets back to its application', async () => {
  await onNewUsers(
    `insert into public.profiles values (new.id, 'a'); insert into public.profiles values (new.id, 'b');`,
  );
  const before = await subject.snapshot();
  const answer = await signUp(someone());
  expect(answer).toMatchObject({ status: 500, body: { code: 500, error_code: 'unexpected_failure' } });
  expect(JSON.stringify(answer.body)).not.toContain('profiles');
  become(someone());
  const back = await signInWith(subject, emulator, 'github');
  expect(back.fragment.get('error')).toBe('server_error');
  expect(back.fragment.get('error_code')).toBe('unexpected_failure');
  expect(back.location).not.toContain('profiles');
  expect(await subject.snapshot()).toBe(before);
});
