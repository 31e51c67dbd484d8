import { isPermitted, type RedirectPolicy } from '../redirects/redirect.ts';
import type { SignedMessage } from './signed-message.ts';

/** How far the clock of whoever wrote the message may be ahead of ours. */
export const CLOCK_SKEW_MS = 60_000;

/** What holds for messages of a chain. */
export interface MessagePolicy {
  /** How long after `Issued At` a message is taken. */
  validityMs: number;
  redirects: RedirectPolicy;
}

/** From this time on the message is taken no more, whatever else it says. */
export function lastMoment({ issuedAt, expiresAt }: SignedMessage, validityMs: number): Date {
  const end = issuedAt.getTime() + validityMs;
  return new Date(Math.min(end, expiresAt?.getTime() ?? end));
}

/**
 * Why a message whose signature is good lets nobody in: it was signed for somebody else's page, or for another time.
 * @returns what is wrong with it, or undefined
 */
export function refusalOf(
  message: SignedMessage,
  { validityMs, redirects }: MessagePolicy,
  now: Date,
): string | undefined {
  const uri = URL.parse(message.uri);
  if (uri === null || !isSecure(uri)) return 'URI must be https, or http on this machine';
  if (uri.username !== '' || uri.password !== '') return 'URI must not have a user';
  if (message.domain !== uri.host) return 'the domain is not that of the URI';
  if (message.scheme !== undefined && `${message.scheme.toLowerCase()}:` !== uri.protocol) {
    return 'the scheme before the domain is not that of the URI';
  }
  if (!isPermitted(message.uri, redirects)) return 'URI is not allowed on this server';
  return refusalOfTime(message, validityMs, now);
}

function refusalOfTime(message: SignedMessage, validityMs: number, now: Date): string | undefined {
  const { issuedAt, expiresAt, notBefore } = message;
  if (issuedAt.getTime() > now.getTime() + CLOCK_SKEW_MS) return 'the message was issued in the future';
  if (now.getTime() >= issuedAt.getTime() + validityMs) return 'the message was issued too long ago';
  if (expiresAt !== undefined && now >= expiresAt) return 'the message has expired';
  if (notBefore !== undefined && now < notBefore) return 'the message is not valid yet';
  return undefined;
}

function isSecure({ protocol, hostname }: URL): boolean {
  if (protocol === 'https:') return true;
  return protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
}
