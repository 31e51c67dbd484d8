/** What a caller may do with a repository; each includes the ones before. */
export type Permission = 'none' | 'read' | 'write' | 'admin';

const ORDER: readonly Permission[] = ['none', 'read', 'write', 'admin'];

/** The caller as far as permissions depend on it; undefined is nobody. */
export interface PermissionSubject {
  userId: number;
  isAdmin: boolean;
  /** The credentials reach public repositories only. */
  publicOnly: boolean;
}

/** Owners and site admins may do everything, everybody may read what is public, nobody learns of the rest. */
export function decidePermission(
  repository: { ownerId: number; private: boolean },
  caller: PermissionSubject | undefined,
): Permission {
  const outsider: Permission = repository.private ? 'none' : 'read';
  if (caller === undefined) return outsider;
  if (caller.publicOnly && repository.private) return 'none';
  return caller.isAdmin || caller.userId === repository.ownerId ? 'admin' : outsider;
}

/** Whether a permission includes another. */
export function includes(has: Permission, wanted: Permission): boolean {
  return ORDER.indexOf(has) >= ORDER.indexOf(wanted);
}
