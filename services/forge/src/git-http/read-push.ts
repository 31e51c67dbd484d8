import { unacceptable } from '../failures.ts';
import { FLUSH, type PushCommand, packetLine, readPushLine } from '../rules/git/push-request.ts';

/** What comes before the pack of a push, its commands and options: a hundred thousand refs take 15 MB. */
const MAX_BYTES = 32 * 1024 * 1024;

/** A command takes some hundred bytes of memory until the push has ended. */
const MAX_COMMANDS = 100_000;

/** The request of a push: read so far, and the pack, which is still to come. */
export interface PushRequest {
  /** No two of a ref: what became of each is known by its name. */
  commands: PushCommand[];
  capabilities: ReadonlySet<string>;
  /** What the client says with `-o`, a text each. */
  options: readonly string[];
  /** As the program is to get it: the commands, whichever they are by then, and what stood around them. */
  encode(commands: readonly PushCommand[]): Buffer;
  pack: AsyncGenerator<Buffer>;
}

/**
 * Reads the request of a push up to its pack.
 * @throws 422 for what is no such request, and a ref named twice
 */
export async function readPush(body: AsyncGenerator<Buffer>): Promise<PushRequest> {
  const reader = new PacketReader(body);
  const commands: PushCommand[] = [];
  const refs = new Set<string>();
  const shallow: string[] = [];
  let capabilities = '';
  for (let line = await reader.next(); line !== undefined; line = await reader.next()) {
    const read = readPushLine(line);
    if (read === undefined) throw unacceptable('[]: not a push that is understood here');
    if ('shallow' in read) {
      shallow.push(read.shallow);
      continue;
    }
    const { ref } = read.command;
    if (refs.has(ref)) throw unacceptable(`[]: ${ref} is named twice`);
    refs.add(ref);
    if (commands.length === 0) capabilities = read.capabilities ?? '';
    commands.push(read.command);
    if (commands.length > MAX_COMMANDS)
      throw unacceptable(`[]: more than ${MAX_COMMANDS} refs: push some of them first`);
  }
  const names = new Set(capabilities.split(' '));
  const options: Buffer[] = [];
  if (names.has('push-options') && commands.length > 0) {
    for (let line = await reader.next(); line !== undefined; line = await reader.next()) options.push(line);
    options.push(FLUSH);
  }
  return {
    commands,
    capabilities: names,
    options: options.filter((line) => line !== FLUSH).map((line) => line.toString().replace(/\n$/, '')),
    encode: (wanted) =>
      Buffer.concat([
        ...shallow.map((id) => packetLine(`shallow ${id}`)),
        ...wanted.map(({ ref, before, after }, index) =>
          packetLine(`${before} ${after} ${ref}${index === 0 ? `\0${capabilities}` : ''}`),
        ),
        FLUSH,
        ...options.map((line) => (line === FLUSH ? line : packetLine(line))),
      ]),
    pack: reader.rest(),
  };
}

/** Takes lines off the front of a body, and leaves the rest as it is. */
class PacketReader {
  readonly #body: AsyncGenerator<Buffer>;
  #received: Buffer = Buffer.alloc(0);
  #bytes = 0;

  constructor(body: AsyncGenerator<Buffer>) {
    this.#body = body;
  }

  /** The next line; undefined at the end of a list of them. */
  async next(): Promise<Buffer | undefined> {
    const length = Number.parseInt((await this.#take(4)).toString('latin1'), 16);
    if (length === 0) return undefined;
    if (!(length > 4)) throw unacceptable('[]: not a push: a line has no length');
    return await this.#take(length - 4);
  }

  async *rest(): AsyncGenerator<Buffer> {
    if (this.#received.length > 0) yield this.#received;
    this.#received = Buffer.alloc(0);
    yield* this.#body;
  }

  async #take(length: number): Promise<Buffer> {
    this.#bytes += length;
    if (this.#bytes > MAX_BYTES) throw unacceptable(`[]: more than ${MAX_BYTES} bytes of commands`);
    while (this.#received.length < length) {
      const next = await this.#body.next();
      if (next.done) throw unacceptable('[]: the request ends in the middle of a line');
      this.#received = Buffer.concat([this.#received, next.value]);
    }
    const taken = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return taken;
  }
}
