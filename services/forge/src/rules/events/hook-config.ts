import { unacceptable } from '../../failures.ts';
import { readGlob } from '../git/glob.ts';

const TYPES = new Set(['gitea', 'gogs']);
const MAX_URL = 2048;
const MAX_SECRET = 1024;

/** Where deliveries go and what signs them; undefined leaves what is there. */
export interface HookConfig {
  url: string | undefined;
  contentType: 'json' | 'form' | undefined;
  secret: string | undefined;
}

/** @throws 422 for a kind of hook that needs other messages than ours */
export function checkHookType(type: string): void {
  if (!TYPES.has(type)) throw unacceptable(`Invalid hook type: ${type}`);
}

/** `config` of a request; clients send null for what they do not say. */
export type GivenConfig = Readonly<Record<string, string | null | undefined>>;

/**
 * Reads `config` of a request.
 * @throws 422 for values nothing can be sent with
 */
export function readHookConfig(config: GivenConfig): HookConfig {
  const url = config['url'] ?? undefined;
  const contentType = config['content_type'] ?? undefined;
  const secret = config['secret'] ?? undefined;
  if (url !== undefined) checkUrl(url);
  if (contentType !== undefined && contentType !== 'json' && contentType !== 'form')
    throw unacceptable('Invalid content type');
  if (secret !== undefined && secret.length > MAX_SECRET)
    throw unacceptable(`[Secret]: MaxSize(${MAX_SECRET})`);
  return { url, contentType, secret };
}

/**
 * The same for a new hook, which must say where to and how.
 * @throws 422 as well when it does not
 */
export function readCompleteConfig(config: GivenConfig) {
  const { url, contentType, secret = '' } = readHookConfig(config);
  if (url === undefined) throw unacceptable('Missing config option: url');
  if (contentType === undefined) throw unacceptable('Missing config option: content_type');
  return { url, contentType, secret };
}

function checkUrl(url: string): void {
  const parsed = url.length <= MAX_URL && URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = parsed?.protocol === 'http:' || parsed?.protocol === 'https:';
  // Credentials in an address would be shown to everybody who may see the hook.
  if (!isHttp || parsed.username !== '' || parsed.password !== '') throw unacceptable('Invalid url');
}

/** @throws 422 for a filter that is no glob */
export function checkBranchFilter(filter: string): void {
  if (filter.length > 255 || (filter !== '' && readGlob(filter) === undefined))
    throw unacceptable('[BranchFilter]: GlobPattern');
}

/** @throws 422 for a name that is too long */
export function checkHookName(name: string): void {
  if (name.length > 255) throw unacceptable('[Name]: MaxSize(255)');
}

/** @throws 422 for what cannot stand in a header */
export function checkAuthorization(header: string): void {
  if (header.length > MAX_SECRET || !/^[\x20-\x7e]*$/.test(header))
    throw unacceptable('[AuthorizationHeader]: Invalid');
}
