import { randomBytes, randomInt } from 'node:crypto';
import type { AuthContext } from '../context.ts';
import { mailPayload } from '../effects/mail.ts';
import type { CodeChallenge, TokenType } from '../rows.ts';
import { bindToken } from '../rules/codes/code-challenge.ts';
import { codeDigits, codeHashOf } from '../rules/codes/one-time-code.ts';
import { actionLink, type LinkType } from '../rules/mail/action-link.ts';
import { type MailData, type MailKind, mailKinds } from '../rules/mail/mail-kinds.ts';
import type { StoredCode } from '../store/one-time-tokens.ts';

/** What a code that travels by mail is for. */
export type MailPurpose =
  | 'signup'
  | 'invite'
  | 'recovery'
  | 'magiclink'
  | 'email_change_current'
  | 'email_change_new'
  | 'reauthentication';

/** A code about to be stored and sent; the last three members never reach the database in clear. */
export interface PreparedCode {
  stored: StoredCode;
  code: string;
  /** Token of the link, 56 hex digits, behind `pkce_` where only its asker can use it; empty for codes that come without one. */
  linkToken: string;
  /** The link; empty likewise. */
  url: string;
}

/** Where a link leads. */
export interface LinkWish {
  redirectTo: string;
  /** What makes the link one that only its asker can use. */
  challenge?: CodeChallenge | undefined;
}

/** Whom a mail with a code is for, and what it says. */
export interface MailCode extends LinkWish {
  purpose: MailPurpose;
  to: string;
  /** The user's metadata, for templates. */
  data: Record<string, unknown>;
  /** The present address, where `to` is not it. */
  email?: string;
  /** The address that is wanted, in mails about a change. */
  newEmail?: string;
  /** The code for the present address, where one message brings both. */
  present?: PreparedCode;
}

interface PurposeTraits {
  tokenType: TokenType;
  kind: MailKind;
  link?: LinkType;
}

const traitsOf: Readonly<Record<MailPurpose, PurposeTraits>> = {
  signup: { tokenType: 'confirmation_token', kind: 'confirmation', link: 'signup' },
  invite: { tokenType: 'confirmation_token', kind: 'invite', link: 'invite' },
  recovery: { tokenType: 'recovery_token', kind: 'recovery', link: 'recovery' },
  magiclink: { tokenType: 'recovery_token', kind: 'magic_link', link: 'magiclink' },
  email_change_current: {
    tokenType: 'email_change_token_current',
    kind: 'email_change',
    link: 'email_change',
  },
  email_change_new: { tokenType: 'email_change_token_new', kind: 'email_change', link: 'email_change' },
  reauthentication: { tokenType: 'reauthentication_token', kind: 'reauthentication' },
};

/** Bytes of a link's token; 56 hex digits are what clients have always seen. */
const LINK_TOKEN_BYTES = 28;

/** A new code for a mail address, the link that does the same, and the mail that brings both. */
export function prepareMailCode(context: AuthContext, wanted: MailCode): PreparedCode {
  const { settings, atRest, clock } = context;
  const { tokenType, kind, link } = traitsOf[wanted.purpose];
  const path = mailKinds[kind].pathSetting;
  const { to, redirectTo, newEmail, challenge, present } = wanted;
  const code = digits(codeDigits(settings.MAILER_OTP_LENGTH));
  const random = randomBytes(LINK_TOKEN_BYTES).toString('hex');
  const linkToken = link === undefined ? '' : challenge === undefined ? random : bindToken(random);
  const url =
    link === undefined || path === undefined
      ? ''
      : actionLink(settings.API_EXTERNAL_URL, settings[path], {
          tokenHash: linkToken,
          type: link,
          redirectTo,
        });
  const data: MailData = {
    siteUrl: settings.SITE_URL,
    confirmationUrl: url,
    email: wanted.email ?? to,
    token: code,
    tokenHash: linkToken,
    data: wanted.data,
    redirectTo,
    ...(newEmail === undefined ? {} : { newEmail }),
    sendingTo: to,
    ...(present === undefined ? {} : { present: { token: present.code, tokenHash: present.linkToken } }),
  };
  const expiresAt = new Date(clock.now().getTime() + settings.MAILER_OTP_EXP);
  const stored: StoredCode = {
    tokenType,
    relatesTo: to,
    tokenHash: atRest.hashCode(codeHashOf(to, code)),
    linkHash: linkToken === '' ? null : atRest.hashCode(linkToken),
    expiresAt,
    challenge,
    effect: { topic: 'mail', payload: mailPayload(atRest, { kind, to, data, expiresAt }) },
  };
  return { stored, code, linkToken, url };
}

function digits(count: number): string {
  return randomInt(10 ** count)
    .toString()
    .padStart(count, '0');
}
