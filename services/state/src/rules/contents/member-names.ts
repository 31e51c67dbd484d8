import { homeDataset, type Member } from '../../model/model.ts';

/**
 * How members of a state are called where it is not known what storage they come from: by what they are, and where a state has
 * several of a kind, all but the first also by where they lie. So a home is the same one on every storage, and a user's state
 * can hold nothing else.
 */
export function memberNames(members: readonly Pick<Member, 'role' | 'user' | 'path'>[]): readonly string[] {
  const taken = new Set<string>();
  return members.map(({ role, user, path }) => {
    const base = user === undefined ? role : homeDataset({ user, path }).name;
    const name = taken.has(base) ? `${base}:${path}` : base;
    taken.add(name);
    return name;
  });
}
