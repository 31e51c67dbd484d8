import type { AuthSettings } from '../settings.ts';

/**
 * The cookie that ties a flow to the browser it left from: whoever makes somebody else open the way back does not sign
 * them in (RFC 6749 §10.12). Each flow has one of its own, so that two tabs do not undo each other.
 */
export interface FlowCookie {
  name: string;
  /** A secret of 128 bits. */
  value: string;
}

/** The name of a flow's cookie; with https no other host, not even one under ours, can set a cookie of this name. */
export function flowCookieName(settings: Pick<AuthSettings, 'API_EXTERNAL_URL'>, stateHash: Buffer): string {
  const prefix = isSecure(settings) ? '__Host-' : '';
  return `${prefix}croft-auth-flow-${stateHash.toString('hex').slice(0, 16)}`;
}

/**
 * `Set-Cookie` for the way there. A provider that makes the browser post a form from its own site gets its answer here
 * only with a cookie that travels between sites, which browsers take with `Secure` alone.
 */
export function setFlowCookie(
  settings: Pick<AuthSettings, 'API_EXTERNAL_URL' | 'EXTERNAL_FLOW_STATE_EXPIRY_DURATION'>,
  cookie: FlowCookie,
  answersBy: 'redirect' | 'form',
): string {
  const seconds = Math.ceil(settings.EXTERNAL_FLOW_STATE_EXPIRY_DURATION / 1000);
  const site = answersBy === 'form' ? '; SameSite=None; Secure' : '; SameSite=Lax';
  const secure = answersBy === 'redirect' && isSecure(settings) ? '; Secure' : '';
  return `${cookie.name}=${cookie.value}; Path=/; Max-Age=${seconds}; HttpOnly${site}${secure}`;
}

const linkingCookieName = (settings: Pick<AuthSettings, 'API_EXTERNAL_URL'>, stateHash: Buffer): string =>
  `${flowCookieName(settings, stateHash)}-link`;

/** `Set-Cookie` of the page that asks before an identity is linked; no other site's form is sent with it. */
export function linkingCookie(
  settings: Pick<AuthSettings, 'API_EXTERNAL_URL' | 'EXTERNAL_FLOW_STATE_EXPIRY_DURATION'>,
  stateHash: Buffer,
  secret: string,
): string {
  const seconds = Math.ceil(settings.EXTERNAL_FLOW_STATE_EXPIRY_DURATION / 1000);
  const secure = isSecure(settings) ? '; Secure' : '';
  return `${linkingCookieName(settings, stateHash)}=${secret}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** Whether the button of that page was pressed. */
export function isLinkingConfirmed(
  settings: Pick<AuthSettings, 'API_EXTERNAL_URL'>,
  stateHash: Buffer,
  cookieHeader: string | undefined,
  confirmation: string,
): boolean {
  return (
    confirmation !== '' && readCookie(cookieHeader, linkingCookieName(settings, stateHash)) === confirmation
  );
}

/** `Set-Cookie` that removes the cookie of a flow that came back. */
export function clearFlowCookie(settings: Pick<AuthSettings, 'API_EXTERNAL_URL'>, name: string): string {
  return `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${isSecure(settings) ? '; Secure' : ''}`;
}

/** The value of a cookie in the header `Cookie`; the empty text when it is not there. */
export function readCookie(header: string | undefined, name: string): string {
  for (const pair of (header ?? '').split(';')) {
    const [found, value = ''] = pair.trim().split('=', 2);
    if (found === name) return value;
  }
  return '';
}

function isSecure({ API_EXTERNAL_URL: url }: Pick<AuthSettings, 'API_EXTERNAL_URL'>): boolean {
  return URL.parse(url)?.protocol === 'https:';
}
