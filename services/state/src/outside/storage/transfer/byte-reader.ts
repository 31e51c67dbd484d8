import { badImport } from '../../../failures-extras.ts';

/** Bytes that come in pieces of any size, read in those that are wanted. */
export class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #piece: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** All of a few bytes. @throws INVALID_ARGUMENT when they end before */
  async read(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.parts(length)) parts.push(part);
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  /** So many bytes, as they come. @throws INVALID_ARGUMENT when they end before */
  async *parts(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0; ) {
      if (!(await this.#fill())) throw badImport('it ends too early');
      const part = this.#piece.subarray(0, left);
      this.#piece = this.#piece.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  /** Whether nothing is left. */
  async isAtEnd(): Promise<boolean> {
    return !(await this.#fill());
  }

  async #fill(): Promise<boolean> {
    while (this.#piece.length === 0) {
      const { done, value } = await this.#pieces.next();
      if (done === true) return false;
      this.#piece = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    return true;
  }
}
