import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A mail as a test looks at it. */
export interface Mail {
  /** Lower-case names; folded lines joined, encoded words left as they are. */
  headers: ReadonlyMap<string, string>;
  /** The whole message with quoted-printable and base64 parts decoded, so that links can be searched for. */
  text: string;
  /** The HTML part alone. */
  html: string;
  /** The text part alone. */
  plain: string;
  raw: string;
}

interface Part {
  type: string;
  text: string;
}

/** Takes a message apart as far as tests need it: header fields, and the text of all its parts. */
export function parseMail(raw: string): Mail {
  const [head = '', ...rest] = raw.split(/\r?\n\r?\n/);
  const parts = decodeParts(head, rest.join('\n\n'));
  const partOf = (type: string): string => parts.find((part) => part.type.startsWith(type))?.text ?? '';
  return {
    headers: parseHeaders(head),
    text: parts.map(({ text }) => text).join('\n'),
    html: partOf('text/html'),
    plain: partOf('text/plain'),
    raw,
  };
}

/** The mails captured in a folder, oldest first. */
export async function capturedMails(folder: string): Promise<Mail[]> {
  await mkdir(folder, { recursive: true });
  const names = (await readdir(folder)).filter((name) => name.endsWith('.eml')).sort();
  return await Promise.all(names.map(async (name) => parseMail(await readFile(join(folder, name), 'utf8'))));
}

function parseHeaders(head: string): Map<string, string> {
  const lines = head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

function decodeParts(head: string, body: string): Part[] {
  const headers = parseHeaders(head);
  const type = headers.get('content-type') ?? 'text/plain';
  const boundary = /boundary="?([^";\r\n]+)"?/i.exec(type)?.[1];
  if (boundary === undefined) {
    return [{ type, text: decode(headers.get('content-transfer-encoding') ?? '', body) }];
  }
  return body
    .split(`--${boundary}`)
    .slice(1, -1)
    .flatMap((part) => {
      const [partHead = '', ...rest] = part.replace(/^\r?\n/, '').split(/\r?\n\r?\n/);
      return decodeParts(partHead, rest.join('\n\n'));
    });
}

function decode(encoding: string, body: string): string {
  if (encoding.toLowerCase() === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding.toLowerCase() !== 'quoted-printable') return body;
  const joined = body.replace(/=\r?\n/g, '');
  const bytes = joined.replace(/=([0-9A-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
