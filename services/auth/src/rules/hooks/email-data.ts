import type { MailData, MailKind } from '../mail/mail-kinds.ts';

const ACTIONS: Readonly<Record<MailKind, string>> = {
  confirmation: 'signup',
  invite: 'invite',
  recovery: 'recovery',
  magic_link: 'magiclink',
  email_change: 'email_change',
  reauthentication: 'reauthentication',
};

/** What the hook `send_email` is told of a mail. */
export interface EmailData {
  token: string;
  token_hash: string;
  redirect_to: string;
  email_action_type: string;
  site_url: string;
  token_new: string;
  token_hash_new: string;
  old_email: string;
}

/**
 * A mail as the hook `send_email` is told of it (as in GoTrue). Where both addresses must agree to a
 * change, one request brings both codes, and the names cross: `token` with `token_hash_new` are for the present
 * address, `token_new` with `token_hash` for the new one.
 * @param siteUrl where links lead: the service's own address, not the site's
 */
export function emailData(kind: MailKind, mail: MailData, siteUrl: string): EmailData {
  const { present } = mail;
  const isForPresent =
    kind === 'email_change' && mail.newEmail !== undefined && mail.sendingTo !== mail.newEmail;
  return {
    token: present?.token ?? mail.token,
    token_hash: isForPresent ? '' : mail.tokenHash,
    redirect_to: mail.redirectTo,
    email_action_type: ACTIONS[kind],
    site_url: siteUrl,
    token_new: present === undefined ? '' : mail.token,
    token_hash_new: isForPresent ? mail.tokenHash : (present?.tokenHash ?? ''),
    old_email: '',
  };
}
