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
 * doubled for those who repeat it in the path; a path that is a full URL is taken as it is.
 */
export function actionLink(externalUrl: string, path: string, link: ActionLink): string {
  const redirect = /^[A-Za-z0-9:/._~-]*$/.test(link.redirectTo)
    ? link.redirectTo
    : encodeURIComponent(link.redirectTo.toWellFormed());
  return `${locate(externalUrl, path)}?token=${link.tokenHash}&type=${link.type}&redirect_to=${redirect}`;
}

function locate(externalUrl: string, path: string): string {
  if (/^https?:\/\//.test(path)) return path;
  const base = new URL(externalUrl);
  const prefix = base.pathname.replace(/\/$/, '');
  const absolute = path.startsWith('/') ? path : `/${path}`;
  const repeats = prefix !== '' && (absolute === prefix || absolute.startsWith(`${prefix}/`));
  return base.origin + (repeats ? '' : prefix) + absolute;
}
