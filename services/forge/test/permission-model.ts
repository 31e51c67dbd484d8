// What everybody may do, told a second time: by words and small numbers, without a line of the forge's own code. Where the
// two disagree, one of them is wrong.

/**
 * Who asks. In every place the first six were given what their names say: a `keeper` administrates, `triage` has issues
 * only, by a team.
 */
export const PERSONAS = [
  'stranger',
  'reader',
  'triage',
  'writer',
  'keeper',
  'owner',
  /** Site administrator. */
  'root',
  /** The owner's token for public things, in wrong hands. */
  'leaked',
  /** The owner's token for everything but this part of the API. */
  'narrow',
  /** Was an administrator of every repository. */
  'banned',
  'anonymous',
] as const;
export type Persona = (typeof PERSONAS)[number];

/** A public repository, a private one of a public organization, and one of a private organization. */
export const PLACES = ['open', 'secret', 'hidden'] as const;
export type PlaceName = (typeof PLACES)[number];

/** What an answer comes to: served, or its status. */
export type Outcome = 'served' | 401 | 403 | 404 | 405;

/** What a route needs, in a few words. */
export type Need =
  // Of the server.
  | 'nothing'
  | 'admittance'
  | 'an account'
  | 'an account with private things'
  | 'the site'
  | 'to be the owner'
  | 'to be the owner, with private things'
  | 'a thread of the owner'
  // Of a repository; without `account` somebody anonymous may do it, too.
  | 'see'
  | 'see code'
  | 'see issues'
  | 'see pulls'
  | 'account, see'
  | 'account, see code'
  | 'account, see issues'
  | 'account, see pulls'
  | 'write code'
  | 'write issues'
  | 'write pulls'
  | 'administrate'
  | 'administrate code'
  | 'administrate issues'
  | 'administrate pulls'
  | 'merge'
  | 'update the head'
  | 'push for review'
  | 'the time of the owner'
  | 'the review of the owner'
  | 'the pending review of the owner'
  | 'own'
  | 'own with teams'
  | 'be given'
  | 'be given or own'
  // Of an organization or a team.
  | 'know'
  | 'account, know'
  | 'belong'
  | 'govern'
  | 'govern, with private things'
  | 'join in the team'
  | 'lead the team'
  | 'join in the team, see'
  | 'lead the team, see';

/** Whether a route is asked in every place; what is nowhere in particular is asked once. */
export const isPlaced = (need: Need) => !UNPLACED.has(need);
const UNPLACED = new Set<Need>([
  'nothing',
  'admittance',
  'an account',
  'an account with private things',
  'the site',
  'to be the owner',
  'to be the owner, with private things',
]);

/** The part of the API a path belongs to, which a token must have been made for. */
export function areaOf(path: string): string {
  if (path.startsWith('/admin')) return 'admin';
  if (/^\/(repos\/:owner\/:repo\/)?notifications/.test(path)) return 'notification';
  if (/^\/(orgs?|teams)(\/|$)/.test(path)) return 'organization';
  if (/^\/(user|users\/:username)\/(orgs|teams)/.test(path)) return 'organization';
  if (/^\/(user|users\/:username)\/(repos|starred|subscriptions)/.test(path)) return 'repository';
  if (/^\/users?(\/|$)/.test(path)) return 'user';
  if (/^\/repos\/(issues|:owner\/:repo\/(issues|labels|milestones))(\/|$)/.test(path)) return 'issue';
  if (/^\/(repos|repositories|topics)\//.test(path)) return 'repository';
  return 'misc';
}

type Unit = 'code' | 'issues' | 'pulls';
/** 0 nothing, 1 read, 2 write, 3 administrate, 4 own. */
type Rights = Record<'whole' | Unit, number>;
const all = (level: number): Rights => ({ whole: level, code: level, issues: level, pulls: level });

const GIVEN: Partial<Record<Persona, Rights>> = {
  reader: all(1),
  triage: { whole: 1, code: 0, issues: 2, pulls: 0 },
  writer: all(2),
  keeper: all(3),
  owner: all(4),
  leaked: all(4),
};
const MEMBERS: readonly Persona[] = ['triage', 'owner', 'leaked', 'root'];

function rightsOf(who: Persona, place: PlaceName): Rights {
  if (who === 'root') return all(4);
  if (who === 'leaked' && place !== 'open') return all(0);
  // What is not private is for everybody who may know of its owner.
  const floor = place === 'open' || (place === 'hidden' && (MEMBERS.includes(who) || who in GIVEN)) ? 1 : 0;
  const given = GIVEN[who] ?? all(0);
  const highest = (part: keyof Rights) => Math.max(given[part], floor);
  return {
    whole: highest('whole'),
    code: highest('code'),
    issues: highest('issues'),
    pulls: highest('pulls'),
  };
}

/** What somebody is to the organization of a place. */
function standingIn(place: PlaceName, who: Persona): 'unknown' | 'knows' | 'member' | 'owner' {
  if (place === 'hidden' && (who === 'leaked' || !MEMBERS.includes(who))) return 'unknown';
  if (who === 'root' || who === 'owner' || who === 'leaked') return 'owner';
  return who === 'triage' ? 'member' : 'knows';
}

/** What has to come of it when somebody does what needs `need` in a place. */
export function expected(need: Need, who: Persona, place: PlaceName): Outcome {
  if (need === 'nothing') return 'served';
  if (who === 'banned' || who === 'narrow') return 403;
  const isReading = ['admittance', 'know'].includes(need) || need.startsWith('see');
  if (who === 'anonymous' && !isReading) return 401;
  const isOwner = who === 'owner' || who === 'leaked';
  const ofServer: Partial<Record<Need, Outcome>> = {
    admittance: 'served',
    'an account': 'served',
    'an account with private things': who === 'leaked' ? 403 : 'served',
    'the site': who === 'root' ? 'served' : 403,
    // With a password or an access token of the auth service: a leaked token must not make itself a sister.
    'to be the owner': who === 'leaked' ? 401 : isOwner || who === 'root' ? 'served' : 403,
    'to be the owner, with private things': who === 'leaked' ? 403 : isOwner ? 'served' : 404,
    'a thread of the owner': isOwner && rightsOf(who, place).issues > 0 ? 'served' : 404,
    'the pending review of the owner': isOwner && rightsOf(who, place).pulls > 0 ? 'served' : 404,
  };
  return ofServer[need] ?? ofOrganization(need, who, place) ?? ofRepository(need, who, place);
}

function ofOrganization(need: Need, who: Persona, place: PlaceName): Outcome | undefined {
  const standing = standingIn(place, who);
  const unless = (isRefused: boolean): Outcome => (standing === 'unknown' ? 404 : isRefused ? 403 : 'served');
  const [first = '', second = ''] = need.split(', ');
  switch (first === 'account' ? second : first) {
    case 'know':
      return unless(false);
    case 'belong':
      return unless(standing === 'knows');
    case 'govern':
      return unless(standing !== 'owner' || (second === 'with private things' && who === 'leaked'));
    case 'join in the team':
    case 'lead the team': {
      if (standing === 'unknown' || standing === 'knows') return 404;
      const isRefused = first === 'lead the team' && standing !== 'owner';
      // A repository nobody may know of is not found before anything is refused.
      if (second === 'see' && rightsOf(who, place).whole === 0) return 404;
      return isRefused ? 403 : 'served';
    }
    default:
      return undefined;
  }
}

function ofRepository(need: Need, who: Persona, place: PlaceName): Outcome {
  const rights = rightsOf(who, place);
  const least = (seen: number, level: number, wanted: number): Outcome =>
    seen === 0 ? 404 : level < wanted ? 403 : 'served';
  const [verb, unit] = need.replace('account, ', '').split(' ') as [string, Unit | undefined];
  switch (verb) {
    case 'see':
      return least(rights[unit ?? 'whole'], 1, 1);
    case 'write':
      return least(rights[unit ?? 'whole'], rights[unit ?? 'whole'], 2);
    case 'administrate':
      return least(rights[unit ?? 'whole'], rights.whole, 3);
    case 'merge':
      return rights.pulls === 0 ? 404 : rights.code < 2 ? 405 : 'served';
    case 'update':
      return rights.pulls === 0 ? 404 : rights.code < 2 ? 403 : 'served';
    case 'push':
      // Or branches: which of the two shows in the push only.
      return rights.code === 0 ? 404 : rights.code < 2 && rights.pulls === 0 ? 403 : 'served';
    case 'own':
      // Who administrates a repository need not know of the organization whose teams it is about.
      if (unit !== undefined && who === 'keeper' && place === 'hidden') return 404;
      return least(rights.whole, rights.whole, 4);
    case 'the':
      return least(need === 'the review of the owner' ? rights.pulls : rights.issues, rights.whole, 4);
    case 'be': {
      // The gift is for the stranger; of the others only the organization sees it, where it is not public.
      if (who === 'stranger' || who === 'root') return 'served';
      if (need === 'be given or own' && rights.whole === 4) return 'served';
      const sees = place === 'open' || (MEMBERS.includes(who) && who !== 'leaked');
      return sees ? 403 : 404;
    }
    default:
      throw new Error(`no rule for '${need}'`);
  }
}
