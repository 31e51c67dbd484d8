import type { Directory } from './directory.ts';

/** A user as this system knows him. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  /** His primary group. */
  readonly gid: number;
}

/** A user by name or uid; undefined when there is none. @throws UNAVAILABLE */
export async function findAccount(directory: Directory, key: string | number): Promise<Account | undefined> {
  const [name, , uid, gid] = (await directory.find('passwd', String(key))) ?? [];
  // A name of digits is looked up as a uid, too, and must not become somebody else.
  const isMeant = typeof key === 'number' ? uid === String(key) : name === key;
  return name !== undefined && isMeant ? { name, uid: Number(uid), gid: Number(gid) } : undefined;
}

/**
 * Whose the home of a user is to be; undefined for one without an account, and where the daemon may give nothing away.
 * @throws UNAVAILABLE
 */
export async function findOwner(directory: Directory, user: string): Promise<Account | undefined> {
  return process.geteuid?.() === 0 ? await findAccount(directory, user) : undefined;
}

/** Whether a user belongs to a group, as his primary or as a further one. @throws UNAVAILABLE */
export async function isMember(
  directory: Directory,
  { name, gid }: Account,
  group: string,
): Promise<boolean> {
  const [found, , groupId, members = ''] = (await directory.find('group', group)) ?? [];
  return found === group && (Number(groupId) === gid || members.split(',').includes(name));
}
