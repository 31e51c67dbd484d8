import type { Viewer } from '../../viewer.ts';

export type { Viewer } from '../../viewer.ts';

/** What somebody may do; each includes the ones before. Their order is the numbers of the tables. */
export const LEVELS = ['none', 'read', 'write', 'admin', 'owner'] as const;

/** One of them. */
export type Level = (typeof LEVELS)[number];

/** The parts of a repository that have permissions of their own. */
export const UNITS = ['code', 'issues', 'pulls'] as const;

/** One of them. */
export type Unit = (typeof UNITS)[number];

/** What a caller may do with a repository as a whole, and with each of its units. */
export interface Permission {
  level: Level;
  units: Readonly<Record<Unit, Level>>;
}

/** The caller as far as permissions depend on it; undefined is nobody. */
export interface PermissionSubject {
  userId: number;
  isAdmin: boolean;
  /** The credentials reach public repositories only. */
  publicOnly: boolean;
}

/** Who looks at a list. */
export const viewerOf = (caller: PermissionSubject | undefined): Viewer => ({
  userId: caller?.userId ?? 0,
  seesAll: caller !== undefined && caller.isAdmin && !caller.publicOnly,
  publicOnly: caller?.publicOnly ?? false,
});

/** What permissions depend on besides the caller. */
export interface PermissionObject {
  private: boolean;
  /** Who may know of its owner: everybody, the signed in, or members of the organization. */
  ownerVisibility: string;
  /** What the caller was given: as the owner, a collaborator, a member of teams; 0 to 4 as in the tables. */
  granted: Readonly<Record<'level' | Unit, number>> | undefined;
  /** Whether the caller is in any team of the owner. */
  isMember: boolean;
}

/**
 * Site admins may do everything, others what they were given, everybody may read what is public, and nobody learns of
 * the rest. A token for public things shows nothing else, whoever has it.
 */
export function decidePermission(
  repository: PermissionObject,
  caller: PermissionSubject | undefined,
): Permission {
  const { granted, isMember, ownerVisibility } = repository;
  const mayKnowOwner =
    ownerVisibility === 'public' ||
    (caller !== undefined && (ownerVisibility === 'limited' || isMember || granted !== undefined));
  const isPublic = !repository.private && ownerVisibility === 'public';
  if (caller?.publicOnly && !isPublic) return everything('none');
  if (caller?.isAdmin) return everything('owner');
  const floor: Level = !repository.private && (mayKnowOwner || caller?.isAdmin) ? 'read' : 'none';
  if (caller === undefined || granted === undefined) return everything(floor);
  const units = {
    code: highest(floor, levelOf(granted.code)),
    issues: highest(floor, levelOf(granted.issues)),
    pulls: highest(floor, levelOf(granted.pulls)),
  };
  // Somebody who reads a single unit may know of the repository.
  const whole = levelOf(granted.level);
  return { units, level: highest(floor, whole, ...Object.values(units).map(atMostRead)) };
}

/** Whether a permission includes another. */
export function includes(has: Level, wanted: Level): boolean {
  return LEVELS.indexOf(has) >= LEVELS.indexOf(wanted);
}

/** The level of a number in the tables. */
export const levelOf = (number: number): Level => LEVELS[number] ?? 'none';

const highest = (...levels: readonly Level[]): Level =>
  levels.reduce((best, level) => (includes(level, best) ? level : best), 'none');

const atMostRead = (level: Level): Level => (level === 'none' ? 'none' : 'read');

const everything = (level: Level): Permission => ({
  level,
  units: { code: level, issues: level, pulls: level },
});
