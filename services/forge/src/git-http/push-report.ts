import { FLUSH, packetLine } from '../rules/git/push-request.ts';

/** What git says of a push: whether the pack was taken, and each ref by the name git knew. */
export interface PushReport {
  /** The first line, such as `unpack ok`; undefined when git ended without one. */
  unpack: string | undefined;
  /** Why a ref was refused, undefined for those that moved. */
  refs: Map<string, string | undefined>;
}

/** The channels of git's answer: 1 is the report, 2 is for people. */
const REPORT = 1;
const PEOPLE = 2;
const MAX_PACKET = 65_515;

/**
 * Takes git's answer to a push apart.
 * @param sideband whether it comes in channels, of which those for people are handed on as they are
 */
export async function readReport(
  output: AsyncIterable<Buffer>,
  sideband: boolean,
  handOn: (packet: Buffer) => void,
): Promise<PushReport> {
  const parts: Buffer[] = [];
  if (sideband) {
    for await (const line of packets(output)) {
      if (line[0] === REPORT) parts.push(line.subarray(1));
      else handOn(packetLine(line));
    }
  } else {
    for await (const chunk of output) parts.push(chunk);
  }
  const report: PushReport = { unpack: undefined, refs: new Map() };
  for await (const line of packets([Buffer.concat(parts)])) {
    const text = line.toString().replace(/\n$/, '');
    // Names have no space of ASCII, and may have any other.
    const [, verb, ref = '', reason] = /^(ok|ng) ([^ ]+)(?: (.*))?$/s.exec(text) ?? [];
    if (text.startsWith('unpack ')) report.unpack = text;
    else if (verb !== undefined) report.refs.set(ref, verb === 'ok' ? undefined : (reason ?? 'failed'));
  }
  return report;
}

/** A report as the client gets it. */
export function encodeReport(
  report: PushReport,
  client: { sideband: boolean; wantsReport: boolean },
  notes: readonly string[],
): Buffer {
  const lines = [
    packetLine(`${report.unpack ?? 'unpack git ended early'}\n`),
    ...[...report.refs].map(([ref, reason]) =>
      packetLine(reason === undefined ? `ok ${ref}\n` : `ng ${ref} ${reason}\n`),
    ),
    FLUSH,
  ];
  const body = client.wantsReport ? Buffer.concat(lines) : Buffer.alloc(0);
  if (!client.sideband) return body;
  return Buffer.concat([
    ...notes.flatMap((note) => inChannel(PEOPLE, Buffer.from(`${note}\n`))),
    ...inChannel(REPORT, body),
    FLUSH,
  ]);
}

function inChannel(channel: number, bytes: Buffer): Buffer[] {
  const done: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += MAX_PACKET) {
    const part = bytes.subarray(start, start + MAX_PACKET);
    done.push(packetLine(Buffer.concat([Buffer.from([channel]), part])));
  }
  return done;
}

/** Lines of git's protocol; an incomplete one at the end is dropped. */
async function* packets(source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  let received: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    while (received.length >= 4) {
      const length = Number.parseInt(received.toString('latin1', 0, 4), 16);
      // Ends of lists carry nothing.
      const end = length < 4 ? 4 : length;
      if (Number.isNaN(length) || received.length < end) break;
      if (length > 4) yield received.subarray(4, end);
      received = received.subarray(end);
    }
  }
}
