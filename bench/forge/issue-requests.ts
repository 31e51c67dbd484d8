import { READER, SIZE, word } from './data.ts';

/** What is asked for, by what it asks; each gives the path of its n-th request. */
export type Requests = Readonly<Record<string, (round: number) => string>>;

const PRIVATE_EVERY = 5;

/** The first repositories are the largest; those of the last fifth are private. */
function repository(round: number, among: number): string {
  const wanted = 1 + ((round * 37) % among);
  const id = wanted % PRIVATE_EVERY === PRIVATE_EVERY - 1 ? wanted + 1 : wanted;
  return `person-${1 + ((id * 7) % SIZE.people)}/repository-${id}`;
}
const person = (round: number) => `person-${1 + ((round * 53) % SIZE.people)}`;
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

function inRepository(query: (round: number) => string, among: number = SIZE.repositories) {
  return (round: number) => `/api/v1/repos/${repository(round, among)}/issues?${query(round)}`;
}
function everywhere(query: (round: number) => string) {
  return (round: number) => `/api/v1/repos/issues/search?${query(round)}`;
}

/** Lists of one repository. */
export const LISTS: Requests = {
  'first page': inRepository(() => ''),
  'page 2 of closed': inRepository(() => 'state=closed&page=2'),
  'page 20': inRepository(() => 'page=20', 20),
  'page 100 of all': inRepository(() => 'state=all&page=100', 3),
  since: inRepository((round) => `since=${daysAgo(1 + (round % 300))}`),
  'since, of the largest': inRepository((round) => `state=all&since=${daysAgo(1 + (round % 1_000))}`, 3),
  label: inRepository(() => 'labels=bug'),
  'labels of all': inRepository(() => 'state=all&labels=docs,help+wanted'),
  milestone: inRepository((round) => `state=all&milestones=v${1 + (round % 4)}`),
  'created by': inRepository((round) => `state=all&created_by=${person(round)}`, 100),
  'assigned to': inRepository((round) => `assigned_by=${person(round)}`, 100),
  pulls: inRepository(() => 'type=pulls&state=all'),
};

/** Searches without a keyword. */
export const SEARCHES: Requests = {
  'first page': everywhere(() => ''),
  'page 20': everywhere(() => 'page=20'),
  'page 100 of all': everywhere(() => 'state=all&page=100'),
  closed: everywhere(() => 'state=closed'),
  pulls: everywhere(() => 'type=pulls'),
  'a priority repository': everywhere(
    (round) => `priority_repo_id=${1 + ((round * 37) % SIZE.repositories)}`,
  ),
  label: everywhere(() => 'labels=bug'),
  'labels, page 20': everywhere(() => 'labels=docs,help+wanted&page=20'),
  milestone: everywhere((round) => `milestones=v${1 + (round % 4)}`),
  'since some days': everywhere((round) => `since=${daysAgo(1 + (round % 30))}`),
  'since years': everywhere(() => `state=all&since=${daysAgo(3_000)}`),
  'created by': everywhere((round) => `state=all&created_by=${person(round)}`),
  'created by the caller': everywhere(() => 'created=true'),
  'assigned to the caller': everywhere(() => 'assigned=true&state=all'),
  'of an owner': everywhere((round) => `owner=${person(round)}`),
};

/** From a word that most issues have to one that a single issue has, and one that none has. */
export const KEYWORDS: Requests = {
  'in most issues': everywhere(() => `q=${word(0)}`),
  'in most issues, page 20': everywhere(() => `q=${word(1)}&page=20`),
  'in many': everywhere(() => `q=${word(20)}`),
  'in some': everywhere((round) => `q=${word(500 + (round % 200))}`),
  'in few': everywhere((round) => `q=${word(10_000 + (round % 9_000))}`),
  'in one': everywhere((round) => `q=ref${(round * 7_919) % SIZE.issues}`),
  'in none': everywhere(() => 'q=no-such-thing'),
  'part of many words': everywhere(() => 'q=osl'),
  'a number': everywhere((round) => `q=%23${1 + (round % 500)}`),
  'with a label': everywhere(() => `q=${word(20)}&labels=bug`),
  'of all, since': everywhere((round) => `q=${word(5)}&state=all&since=${daysAgo(1 + (round % 60))}`),
  'in a repository': inRepository((round) => `q=${word(round % 600)}`),
};

/** Several words, which the texts are read for. Phrases of the very commonest are not among them: they take seconds. */
export const PHRASES: Requests = {
  'a common phrase': everywhere(() => `q=${word(8)}+${word(20)}`),
  'a rare phrase': everywhere((round) => `q=${word(40)}+${word(300 + (round % 100))}`),
  'a phrase in a repository': inRepository(() => `q=${word(0)}+${word(2)}`),
};

/** Lists by the plain list beside which ours is held: of public repositories of all sizes. */
export const PLAIN_LISTS: Requests = {
  'first page': (round) => `/${1 + ((round * 37) % SIZE.repositories)}`,
};

/** Who asks: as many as there are connections, as the searches of one person wait for each other. */
export const readers = (connections: number): number[] =>
  Array.from({ length: connections }, (_, index) => READER + index);
