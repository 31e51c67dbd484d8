import { PermanentFailure } from '@croft/sql';
import type { AtRest } from '../at-rest.ts';
import type { MailData } from '../rules/mail/mail-kinds.ts';

/** What was sealed before migration 0003: the mail had no templates then. */
interface EarlierMail {
  subject: string;
  url: string;
  code: string;
}

/**
 * What the mail of an outbox row says, also of a row that an earlier version wrote.
 * @throws PermanentFailure when another at-rest key sealed it
 */
export function readSealedMail(
  atRest: AtRest,
  { to, sealed }: { to: string; sealed: string },
  siteUrl: string,
): MailData {
  const data = openSealed(atRest, sealed);
  return 'url' in data ? today(data, to, siteUrl) : data;
}

function openSealed(atRest: AtRest, sealed: string): MailData | EarlierMail {
  try {
    return JSON.parse(atRest.open(sealed)) as MailData | EarlierMail;
  } catch {
    throw new PermanentFailure('the mail was sealed with another at-rest key');
  }
}

function today({ url, code }: EarlierMail, to: string, siteUrl: string): MailData {
  const { searchParams } = new URL(url);
  return {
    siteUrl,
    confirmationUrl: url,
    email: to,
    token: code,
    tokenHash: searchParams.get('token') ?? '',
    data: {},
    redirectTo: searchParams.get('redirect_to') ?? '',
    sendingTo: to,
  };
}
