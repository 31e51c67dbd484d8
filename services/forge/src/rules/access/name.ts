import { unacceptable } from '../../failures.ts';

/** Words a path of ours starts with, or may start with one day; nobody can have them as a name. */
const RESERVED_OWNERS = new Set(
  `admin api assets attachments auth avatars captcha commits debug error explore favicon.ico ghost git health
  install issues login logout manifest.json metrics milestones new notifications openapi.json org organizations
  orgs pulls raw ready repo repos robots.txt search settings stars static swagger team teams template user users
  version`.split(/\s+/),
);
const RESERVED_REPOSITORIES = new Set(['-', 'search', 'issues']);

/** Longest name of an account, as in the reference. */
export const MAX_LOGIN = 40;
const MAX_REPOSITORY = 100;

/** Names of accounts: letters, digits, `-`, `_`, `.`, none of the reserved words. */
export function isLogin(name: string): boolean {
  return name.length <= MAX_LOGIN && isPathName(name) && !RESERVED_OWNERS.has(name.toLowerCase());
}

/**
 * Refuses a name that no account can have.
 * @throws 422
 */
export function checkAccountName(name: string): void {
  if (!/^[A-Za-z0-9_.-]*$/.test(name)) throw unacceptable('[Username]: AlphaDashDot');
  if (name.length > MAX_LOGIN) throw unacceptable(`[Username]: MaxSize(${MAX_LOGIN})`);
  if (!isLogin(name)) throw unacceptable(`name is reserved [name: ${name}]`);
}

/**
 * Refuses a repository name that git or a URL would read as something else (decisions §5).
 * @throws 422
 */
export function checkRepositoryName(name: string): void {
  if (!/^[A-Za-z0-9_.-]*$/.test(name)) throw unacceptable('[Name]: AlphaDashDot');
  if (name.length > MAX_REPOSITORY) throw unacceptable(`[Name]: MaxSize(${MAX_REPOSITORY})`);
  if (!isPathName(name) || RESERVED_REPOSITORIES.has(name.toLowerCase())) {
    throw unacceptable(`The repository name is reserved [name: ${name}]`);
  }
}

/** What may stand as one segment of a path and, with `.git` behind it, of a clone address. */
function isPathName(name: string): boolean {
  return /^[A-Za-z0-9_.-]+$/.test(name) && !/^\.{1,2}$|^-|\.(git|lock|wiki|rss|atom|diff|patch)$/i.test(name);
}

/**
 * Names to try for a new account, best first: the name the user chose at sign-up, else the local part of the e-mail
 * address, made valid, then with a number, at last with a part of the user's id, which nobody else has.
 */
export function* proposeLogins(
  wanted: string | undefined,
  email: string,
  authUserId: string,
): Generator<string> {
  const base = toLogin(wanted ?? '') ?? toLogin(email.split('@')[0] ?? '') ?? 'member';
  const bases = isLogin(base) ? [base] : [];
  for (const first of bases) yield first;
  for (let number = 2; number <= 9; number++) yield `${base.slice(0, MAX_LOGIN - 2)}-${number}`;
  yield `${base.slice(0, MAX_LOGIN - 9)}-${authUserId.slice(0, 8)}`;
  yield authUserId;
}

function toLogin(text: string): string | undefined {
  const name = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[-_.]+|[-_.]+$/g, '')
    .slice(0, MAX_LOGIN)
    .replace(/[-_.]+$/, '');
  return name === '' ? undefined : name;
}
