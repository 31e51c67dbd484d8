/** Chains whose wallets can sign people in. */
export const chains = ['ethereum', 'solana'] as const;

/** Name of such a chain, as clients write it. */
export type Chain = (typeof chains)[number];

/** A message a wallet was asked to sign, taken apart. */
export interface SignedMessage {
  /** Scheme before the domain, which the wallet compares with the page that asks. */
  scheme: string | undefined;
  /** Host and port that asked for the signature. */
  domain: string;
  /** The account as the message spells it. */
  address: string;
  statement: string | undefined;
  uri: string;
  version: string;
  chainId: string | undefined;
  nonce: string | undefined;
  issuedAt: Date;
  expiresAt: Date | undefined;
  notBefore: Date | undefined;
}

/** Thrown by the parsers, with what is wrong in words for the person who builds the message. */
export class MalformedMessage extends Error {}

const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * Lines of a message. Only a line feed ends a line; everything else that some wallet might show as a line end, and
 * what cannot be sent as UTF-8, is refused, so that what people read is what is parsed here.
 * @throws MalformedMessage
 */
export function linesOf(message: string): string[] {
  const lines = message.split('\n');
  if (lines.some((line) => FORBIDDEN.test(line))) throw new MalformedMessage('has control characters');
  return lines;
}

const INTRODUCTION =
  /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/)?(\S+) wants you to sign in with your (\S+) account:$/;

/** The first line: who asks, and whose signature. @throws MalformedMessage */
export function readIntroduction(
  line: string | undefined,
  kind: string,
): Pick<SignedMessage, 'scheme' | 'domain'> {
  const [, scheme, domain, account] = INTRODUCTION.exec(line ?? '') ?? [];
  if (domain === undefined || account !== kind) throw new MalformedMessage('does not begin as it must');
  return { scheme, domain };
}

/**
 * What the fields after the statement say. Each has one place in a message, so that none can be said twice.
 * @param fields by their names
 * @throws MalformedMessage
 */
export function readFields(
  fields: ReadonlyMap<string, string>,
): Omit<SignedMessage, 'scheme' | 'domain' | 'address' | 'statement'> {
  const issuedAt = timeOf(fields, 'Issued At');
  if (issuedAt === undefined) throw new MalformedMessage('has no Issued At');
  const nonce = fields.get('Nonce');
  if (nonce !== undefined && !/^[A-Za-z0-9]{8,}$/.test(nonce)) throw new MalformedMessage('has a bad Nonce');
  const uri = fields.get('URI');
  if (uri === undefined) throw new MalformedMessage('has no URI');
  const version = fields.get('Version');
  if (version !== '1') throw new MalformedMessage('has another Version than 1');
  return {
    uri,
    version,
    chainId: fields.get('Chain ID'),
    nonce,
    issuedAt,
    expiresAt: timeOf(fields, 'Expiration Time'),
    notBefore: timeOf(fields, 'Not Before'),
  };
}

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** A time (RFC 3339). Days that a month does not have are none, where the engine would count on into the next. */
function timeOf(fields: ReadonlyMap<string, string>, name: string): Date | undefined {
  const text = fields.get(name);
  if (text === undefined) return undefined;
  const [, year, month, day] = DATE_TIME.exec(text.toUpperCase()) ?? [];
  const time = new Date(text.toUpperCase());
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  if (year === undefined || Number.isNaN(time.getTime()) || Number(day) > lastDay) {
    throw new MalformedMessage(`has a bad ${name}`);
  }
  return time;
}
