import { describe, expect, it } from 'vitest';
import { type Actor, adminActor, auditEntry, BY_PHONE, toUser } from './audit.ts';

const person: Actor = {
  id: '8f6b3f52-2c8c-4d11-9d5c-2f1e0c6b7a10',
  email: 'a@site.test',
  phone: null,
  is_sso_user: false,
  raw_user_meta_data: {},
};

describe('an entry', () => {
  it('names a person by address, by number first, and by name where there is one', () => {
    expect(auditEntry(person, 'login')).toEqual({
      action: 'login',
      actor_id: person.id,
      actor_username: 'a@site.test',
      actor_via_sso: false,
      log_type: 'account',
    });
    const named = { ...person, phone: '14155552671', raw_user_meta_data: { full_name: 'Ada' } };
    expect(auditEntry(named, 'user_modified', BY_PHONE)).toMatchObject({
      actor_name: 'Ada',
      actor_username: '14155552671',
      log_type: 'user',
      traits: { provider: 'phone' },
    });
  });

  it('repeats no more of a name than a name has: it is in every entry of its owner', () => {
    const named = {
      ...person,
      raw_user_meta_data: { full_name: `${'x'.repeat(254)}😀${'x'.repeat(1_000_000)}` },
    };
    const { actor_name } = auditEntry(named, 'login') as { actor_name: string };
    expect(actor_name.length).toBe(255);
    expect(actor_name.isWellFormed()).toBe(true);
  });

  it('names an administrator by role, without an id', () => {
    expect(auditEntry(adminActor('service_role'), 'user_invited', toUser(person))).toEqual({
      action: 'user_invited',
      actor_id: '00000000-0000-0000-0000-000000000000',
      actor_username: 'service_role',
      actor_via_sso: false,
      log_type: 'team',
      traits: { user_id: person.id, user_email: 'a@site.test' },
    });
  });

  it('tells the number of the user it is about only when there is one', () => {
    expect(toUser({ ...person, email: null, phone: '14155552671' })).toEqual({
      user_id: person.id,
      user_email: '',
      user_phone: '14155552671',
    });
  });
});
