import type { Person, Scene } from './forge.ts';

/** The people of the tests about repositories, by what they are to `ada/garden`. */
export interface Cast {
  ada: Person;
  /** Site administrator. */
  root: Person;
  admin: Person;
  writer: Person;
  reader: Person;
  stranger: Person;
}

/** A scene and its cast; everybody has called once, so that everybody has an account. */
export function castOf(scene: Scene): () => Promise<Cast> {
  return async () => {
    const cast = {
      ada: scene.person('ada'),
      root: scene.person('root', { role: 'service_role' }),
      admin: scene.person('admina'),
      writer: scene.person('writer'),
      reader: scene.person('reader'),
      stranger: scene.person('stranger'),
    };
    for (const person of Object.values(cast)) await person.call('GET', '/user');
    return cast;
  };
}

/** Opens a repository to the cast as their names say. */
export async function openTo(cast: Cast, repository: string): Promise<void> {
  for (const [person, permission] of [
    [cast.admin, 'admin'],
    [cast.writer, 'write'],
    [cast.reader, 'read'],
  ] as const) {
    const path = `/repos/${repository}/collaborators/${person.name}`;
    const { status, text } = await cast.ada.call('PUT', path, { permission });
    if (status !== 204) throw new Error(text);
  }
}

/** An organization with an owner, and a team `makers` that may make repositories. */
export async function organization(
  scene: Scene,
  name: string,
  people: { owner: Person; maker?: Person; visibility?: string },
): Promise<number> {
  const { owner, maker, visibility = 'public' } = people;
  const org = await scene.sql.row<{ id: number }>`
    insert into :schema.users (kind, login, visibility, created_at)
    values ('organization', ${name}, ${visibility}, now()) returning id`;
  const id = org?.id ?? 0;
  for (const [team, level, creates, member] of [
    ['Owners', 4, true, owner],
    ['makers', 1, true, maker],
  ] as const) {
    await scene.sql.run`
      with team as (
        insert into :schema.teams (organization_id, name, level, includes_all_repositories, can_create_repositories, created_at)
        values (${id}, ${team}, ${level}, ${level === 4}, ${creates}, now()) returning id)
      insert into :schema.team_members (team_id, user_id)
      select t.id, u.id from team t, :schema.users u where u.login = ${member?.name ?? ''}`;
  }
  return id;
}
