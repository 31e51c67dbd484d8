/**
 * The role an administrator gets who is made on the command line: the group of administrators if its bearers may
 * administrate, else the first role that may. The group's name alone permits nothing: applications have roles called
 * `admin` of their own.
 * @returns undefined when no role may administrate
 */
export function administratorRole(settings: {
  JWT_ADMIN_GROUP_NAME: string;
  JWT_ADMIN_ROLES: readonly string[];
}): string | undefined {
  const { JWT_ADMIN_GROUP_NAME: group, JWT_ADMIN_ROLES: roles } = settings;
  return roles.includes(group) ? group : roles[0];
}
