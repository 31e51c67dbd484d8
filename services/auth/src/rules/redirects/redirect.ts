import type { Glob } from './glob.ts';

/** Where the service may send people after a link: the site itself and what the operator listed. */
export interface RedirectPolicy {
  siteUrl: string;
  allowed: readonly Glob[];
}

/** Where a request says it wants to go, in the order the values count. */
export interface RedirectWish {
  header?: string | undefined;
  parameter?: string | undefined;
  referer?: string | undefined;
}

/**
 * The address people are sent to (as in GoTrue): the first permitted one of what was asked for and
 * the page the request came from, else the site. What is not permitted is replaced, never an error.
 */
export function chooseRedirect(wish: RedirectWish, policy: RedirectPolicy): string {
  const asked = wish.header || wish.parameter || '';
  if (isPermitted(asked, policy)) return asked;
  if (wish.referer !== undefined && isPermitted(wish.referer, policy)) return wish.referer;
  return policy.siteUrl;
}

/** Of an address in characters: browsers and mail programs follow none that is much longer, and each pattern reads all of it. */
const MAX_LENGTH = 4096;

/** Whether tokens may travel to the address. */
export function isPermitted(address: string, policy: RedirectPolicy): boolean {
  if (address === '' || address.length > MAX_LENGTH || hasControlOrSpace(address)) return false;
  const target = URL.parse(address);
  if (target === null) return false;
  if (isWeb(target) && !hasPlainAuthority(address, target)) return false;
  if (sharesSite(target, policy.siteUrl)) return true;
  // A fragment is cut before matching: `http://evil#.example.com/` must not pass for a subdomain of example.com.
  const listed = address.split('#', 1)[0] as string;
  const matched = isWeb(target) ? asOpened(listed) : listed;
  return matched !== undefined && policy.allowed.some((matches) => matches(matched));
}

/**
 * A web address as browsers open it: without a path it has the root's, so that no wildcard for a host goes on into the
 * query, as that of `https://*.example.com/**` would in `https://evil?.example.com/`. Undefined when its path leads
 * elsewhere than it reads, by `..` or a backslash.
 */
function asOpened(address: string): string | undefined {
  const [, authority = '', path = '', query = ''] = /^([^:]*:\/\/[^/?]*)([^?]*)(.*)$/s.exec(address) ?? [];
  if (/\\|\/(\.|%2e){1,2}(\/|$)/i.test(path)) return undefined;
  return path === '' && query !== '' ? `${authority}/${query}` : address;
}

/** Browsers drop tabs and line ends inside an address and blanks around it; what we judge must be what they open. */
function hasControlOrSpace(address: string): boolean {
  for (const character of address) {
    if (character <= ' ' || character === '\u007f') return true;
  }
  return false;
}

const isWeb = (url: URL): boolean => url.protocol === 'http:' || url.protocol === 'https:';

/**
 * Only letters, digits, dots and hyphens, then a port: no user name before an `@`, no backslash (browsers read it as
 * a slash), no characters that IDNA maps to dots. An IP address is written as one: `134744072`, `0x08080808` and
 * `010.8.8.8` are some in disguise, which would pass for the name of a subdomain.
 */
function hasPlainAuthority(address: string, target: URL): boolean {
  const authority = /^https?:\/\/([^/?#]*)/i.exec(address)?.[1];
  if (authority === undefined) return false;
  if (/^(\[::1\]|\[::\])(:\d{1,5})?$/.test(authority)) return true;
  const host = /^([A-Za-z0-9.-]+)(:\d{1,5})?$/.exec(authority)?.[1];
  return host !== undefined && (!/^[\d.]+$/.test(target.hostname) || target.hostname === host);
}

/** "Any URI sharing its host": same host name and port, same scheme or the step up to https. */
function sharesSite(target: URL, siteUrl: string): boolean {
  const site = new URL(siteUrl);
  if (site.hostname === '' || target.hostname !== site.hostname) return false;
  const sameScheme = target.protocol === site.protocol;
  const stepsUp = site.protocol === 'http:' && target.protocol === 'https:';
  if (!sameScheme && !stepsUp) return false;
  // Development servers change their port from run to run, and nobody else answers on one's own machine.
  return target.port === site.port || (isWeb(site) && isLoopback(site.hostname));
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.*\.localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|\[::\])$/.test(hostname);
}

/** Header fields hold ASCII; browsers write the rest of an address the same way. */
export function inHeader(address: string): string {
  return address.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent);
}
