import type { ReadObject } from './objects.ts';

/** Who did something and when, as a commit or tag says it. */
export interface Stamp {
  name: string;
  email: string;
  at: Date;
  /** Minutes that the clock of the place was ahead of UTC. */
  offsetMinutes: number;
}

/** A commit, read. */
export interface CommitData {
  id: string;
  tree: string;
  parents: string[];
  author: Stamp;
  committer: Stamp;
  message: string;
  /** Empty when it is not signed; else with what was signed. */
  signature: string;
  payload: string;
}

/** An annotated tag, read. */
export interface TagData {
  id: string;
  /** What it points to. */
  object: string;
  type: string;
  name: string;
  /** Old tags have none. */
  tagger: Stamp | undefined;
  message: string;
  signature: string;
  payload: string;
}

/** The parts of a commit's content. What people wrote may be anything; what is missing comes out empty. */
export function parseCommit(object: ReadObject): CommitData {
  const { headers, message, decode, signature, payload } = splitCommit(object.content);
  const first = (name: string) => headers.find((header) => header.name === name)?.value;
  return {
    id: object.id,
    tree: first('tree')?.toString('latin1') ?? '',
    parents: headers.filter(({ name }) => name === 'parent').map(({ value }) => value.toString('latin1')),
    author: parseStamp(decode(first('author') ?? Buffer.alloc(0))),
    committer: parseStamp(decode(first('committer') ?? Buffer.alloc(0))),
    message: decode(message),
    signature,
    payload,
  };
}

/** The parts of an annotated tag's content. Its signature stands at the end of the message. */
export function parseTag(object: ReadObject): TagData {
  const { headers, message, decode } = splitCommit(object.content);
  const first = (name: string) => headers.find((header) => header.name === name)?.value;
  const tagger = first('tagger');
  const text = decode(message);
  const start = text.search(/^-----BEGIN (PGP|SSH) (SIGNATURE|MESSAGE)-----$/m);
  const signature = start === -1 ? '' : text.slice(start);
  return {
    id: object.id,
    object: first('object')?.toString('latin1') ?? '',
    type: first('type')?.toString('latin1') ?? '',
    name: decode(first('tag') ?? Buffer.alloc(0)),
    tagger: tagger && parseStamp(decode(tagger)),
    message: start === -1 ? text : text.slice(0, start),
    signature,
    payload:
      signature === ''
        ? ''
        : decode(object.content.subarray(0, object.content.length - Buffer.byteLength(signature))),
  };
}

interface Header {
  name: string;
  value: Buffer;
}

/** Headers, one a line and the further lines of one after a space; an empty line; the message. */
export function splitCommit(content: Buffer) {
  const headers: Header[] = [];
  const signed: Buffer[] = [];
  const signatures: Buffer[] = [];
  let position = 0;
  while (position < content.length && content[position] !== LINE_BREAK) {
    const end = endOfHeader(content, position);
    const line = content.subarray(position, end);
    const space = line.indexOf(' ');
    const name = line.toString('latin1', 0, Math.max(space, 0));
    const value = line.subarray(space + 1);
    headers.push({ name, value });
    if (name === 'gpgsig') signatures.push(value);
    else signed.push(content.subarray(position, end + 1));
    position = end + 1;
  }
  const message = content.subarray(position + 1);
  const decode = decoder(headers.find(({ name }) => name === 'encoding')?.value.toString('latin1'));
  const signature = decode(signatures[0] ?? Buffer.alloc(0)).replaceAll('\n ', '\n');
  const payload = signature === '' ? '' : decode(Buffer.concat([...signed, content.subarray(position)]));
  return { headers, message, decode, signature, payload };
}

const LINE_BREAK = 10;
const SPACE = 32;

function endOfHeader(content: Buffer, start: number): number {
  let end = content.indexOf(LINE_BREAK, start);
  while (end !== -1 && content[end + 1] === SPACE) end = content.indexOf(LINE_BREAK, end + 1);
  return end === -1 ? content.length : end;
}

/** Text in the encoding a commit names; what is not text in it comes out as replacement characters. */
function decoder(encoding: string | undefined): (bytes: Buffer) => string {
  const decoders = [encoding, 'utf-8'].flatMap((label) => {
    try {
      return label === undefined ? [] : [new TextDecoder(label)];
    } catch {
      return [];
    }
  });
  return (bytes) => decoders[0]?.decode(bytes) ?? '';
}

/** `Name <address> seconds +hhmm`; of a broken one, what can be read. */
function parseStamp(line: string): Stamp {
  const close = line.lastIndexOf('>');
  const open = line.indexOf('<');
  const hasAddress = open !== -1 && close > open;
  const [, seconds = '0', sign = '+', hours = '0', minutes = '0'] =
    /^ *(\d+) ([+-])(\d\d)(\d\d)/.exec(line.slice(close + 1)) ?? [];
  const offset = Number(hours) * 60 + Number(minutes);
  return {
    name: (hasAddress ? line.slice(0, open) : line).trim(),
    email: hasAddress ? line.slice(open + 1, close).trim() : '',
    at: momentOf(Number(seconds)),
    offsetMinutes: Number(hours) < 15 && offset <= 14 * 60 ? (sign === '-' ? -offset : offset) : 0,
  };
}

/** A time as git counts it; of one that no answer can spell, the nearest. */
export const momentOf = (seconds: number) => new Date(Math.min(seconds, LAST_SECOND) * 1000);

/** Years of five digits are no times of the wire; the last moment that is one in every zone. */
const LAST_SECOND = Date.UTC(9999, 11, 30) / 1000;
