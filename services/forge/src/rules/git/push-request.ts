/** A ref that a client wants moved; forty zeros stand for not being there. */
export interface PushCommand {
  ref: string;
  before: string;
  after: string;
}

const NO_COMMIT = '0'.repeat(40);
const COMMAND = /^([0-9a-f]{40}) ([0-9a-f]{40}) (.+)$/s;

/** What a line before the pack of a push says; undefined for what is none. gitprotocol-pack(5). */
export function readPushLine(
  line: Buffer,
): { command: PushCommand; capabilities: string | undefined } | { shallow: string } | undefined {
  const nul = line.indexOf(0);
  const bytes = nul === -1 ? line : line.subarray(0, nul);
  const text = bytes.toString().replace(/\n$/, '');
  const [, before = '', after = '', ref = ''] = COMMAND.exec(text) ?? [];
  if (ref !== '') {
    // Names are kept as text: one that is none would come back as another.
    if (Buffer.from(text).length !== bytes.length - (bytes.at(-1) === LINE_BREAK ? 1 : 0)) return undefined;
    if (!ref.isWellFormed() || ref.includes('\ufffd')) return undefined;
    const capabilities = nul === -1 ? undefined : line.toString('latin1', nul + 1).trim();
    return { command: { ref, before, after }, capabilities };
  }
  const shallow = /^shallow ([0-9a-f]{40})$/.exec(text)?.[1];
  return shallow === undefined ? undefined : { shallow };
}

const LINE_BREAK = 10;

/** How a command moves its ref, as far as that shows without looking at commits. */
export function kindOf({ before, after }: PushCommand): 'create' | 'update' | 'delete' {
  if (after === NO_COMMIT) return 'delete';
  return before === NO_COMMIT ? 'create' : 'update';
}

/** gitprotocol-common(5): four hex digits of the length, then the text. */
export function packetLine(payload: string | Buffer): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

/** Ends a list of lines. */
export const FLUSH = Buffer.from('0000');

/** The name of the branch a ref is; undefined for other refs. */
export function branchOf(ref: string): string | undefined {
  const [, branch] = /^refs\/heads\/(.+)$/s.exec(ref) ?? [];
  return branch;
}

/** The name of the tag a ref is; undefined for other refs. */
export function tagOf(ref: string): string | undefined {
  const [, tag] = /^refs\/tags\/(.+)$/s.exec(ref) ?? [];
  return tag;
}
