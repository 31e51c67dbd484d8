import { unacceptable } from '../../failures.ts';
import { LEVELS, UNITS, type Unit } from './permission.ts';

/** What a team gives its members, as numbers of the tables: levels 0 to 4, units 0 to 2. */
export interface TeamAccess extends Record<Unit, number> {
  level: number;
}

/** Owners of the organization. */
export const OWNERS_LEVEL = 4;

/** What a request says about a team's access; absent is not said. */
export interface WantedTeamAccess {
  permission?: string | null | undefined;
  units?: readonly string[] | null | undefined;
  unitsMap?: Readonly<Record<string, string>> | null | undefined;
}

const ADMIN_LEVEL = 3;
const WRITE = 2;
const PERMISSIONS = ['none', 'read', 'write', 'admin'];

/**
 * The access of a team: an administrating one has every unit; else a map of units says what each gives, or a list of
 * units gets the permission. Units the forge does not have are passed over, as clients name all they know of.
 * @param before what an existing team gives now
 * @throws 422 for words that are none, and when no unit is named at all
 */
export function readTeamAccess(wanted: WantedTeamAccess, before?: TeamAccess): TeamAccess {
  const { permission: given, units, unitsMap } = wanted;
  const level = given ? numberOf('Permission', given) : before?.level;
  if (level === ADMIN_LEVEL) return everyUnit(ADMIN_LEVEL);
  const map = Object.entries(unitsMap ?? {});
  if (map.length > 0) {
    const numbers = map.map(([unit, word]) => [unit, Math.min(numberOf('UnitsMap', word), WRITE)] as const);
    const listed = new Map(numbers);
    const given = [...listed.values()].filter((number) => number > 0);
    const least = given.length === 0 ? 0 : Math.min(...given);
    return { ...unitsFrom((unit) => listed.get(wireName(unit)) ?? 0), level: least };
  }
  const each = level ?? 1;
  if (units !== undefined && units !== null && units.length > 0) {
    return { ...unitsFrom((unit) => (units.includes(wireName(unit)) ? each : 0)), level: each };
  }
  if (before === undefined) throw unacceptable('units permission should not be empty');
  return { ...unitsFrom((unit) => (before[unit] > 0 ? each : 0)), level: each };
}

/** A team's access on the wire. */
export function teamAccessJson(access: TeamAccess): {
  permission: string;
  units: string[];
  units_map: Record<string, string>;
} {
  const word = (number: number) => LEVELS[number] ?? 'none';
  const of = (unit: Unit) => (access.level >= ADMIN_LEVEL ? access.level : access[unit]);
  const given = UNITS.filter((unit) => of(unit) > 0);
  return {
    permission: word(access.level),
    units: given.map(wireName),
    units_map: Object.fromEntries(given.map((unit) => [wireName(unit), word(of(unit))])),
  };
}

const wireName = (unit: Unit) => `repo.${unit}`;

/** Nobody becomes an owner through the permission of a team: there is the owners' own team for that. */
function numberOf(field: string, word: string): number {
  const number = PERMISSIONS.indexOf(word);
  if (number === -1) throw unacceptable(`[${field}]: In(${PERMISSIONS.join(',')})`);
  return number;
}

const unitsFrom = (of: (unit: Unit) => number): Record<Unit, number> => ({
  code: of('code'),
  issues: of('issues'),
  pulls: of('pulls'),
});

const everyUnit = (level: number): TeamAccess => ({ level, code: WRITE, issues: WRITE, pulls: WRITE });
