/** What a link does, as its `type` parameter says it. */
export type LinkType = 'signup' | 'invite' | 'recovery' | 'magiclink' | 'email_change';

/** A link in a mail. */
export interface ActionLink {
  /** 56 hex digits, the `token` parameter. */
  tokenHash: string;
  type: LinkType;
  redirectTo: string;
}

/**
 * The address of a link (as in GoTrue). A path prefix of the service's address is kept, and not
 * doubled for those who repeat it in the path; a path that is a full URL is taken as it is. What the link carries stands behind
 * a query of the path's own and before its fragment, because no server is told what is in that.
 */
export function actionLink(externalUrl: string, path: string, link: ActionLink): string {
  const redirect = /^[A-Za-z0-9:/._~-]*$/.test(link.redirectTo)
    ? link.redirectTo
    : encodeURIComponent(link.redirectTo.toWellFormed());
  const [, address = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(locate(externalUrl, path)) ?? [];
  const query = `token=${link.tokenHash}&type=${link.type}&redirect_to=${redirect}`;
  return `${address}${address.includes('?') ? '&' : '?'}${query}${fragment}`;
}

function locate(externalUrl: string, path: string): string {
  if (/^https?:\/\//.test(path)) return path;
  const base = new URL(externalUrl);
  const prefix = base.pathname.replace(/\/$/, '');
  const absolute = path.startsWith('/') ? path : `/${path}`;
  const repeats = absolute.startsWith(prefix) && /^([/?#]|$)/.test(absolute.slice(prefix.length));
  return base.origin + (repeats ? '' : prefix) + absolute;
}
