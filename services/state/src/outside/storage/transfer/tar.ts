import { badImport } from '../../../failures-extras.ts';

/** Everything in an archive begins at a multiple of this. */
export const BLOCK = 512;
/** What ends an archive. */
export const END = Buffer.alloc(2 * BLOCK);
/** Sizes from here on do not fit the eleven digits of a header. */
const LARGE = 8 ** 11;

/** What comes before the content of a file in a POSIX archive; nothing in it depends on who wrote it, or when. */
export function tarHeader(name: string, size: number): Buffer {
  if (size < LARGE) return header(name, size, '0');
  const record = paxRecord('size', String(size));
  return Buffer.concat([
    header('pax', record.length, 'x'),
    record,
    Buffer.alloc(paddingOf(record.length)),
    header(name, 0, '0'),
  ]);
}

/** What fills up the last block of a content. */
export function paddingOf(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

/** What a header says: a file, or how large the next one is. */
type TarHeader =
  | { readonly kind: 'file'; readonly name: string; readonly size: number }
  | { readonly kind: 'pax'; readonly size: number }
  | { readonly kind: 'end' };

/** Reads a block; only what {@link tarHeader} writes is understood. @throws INVALID_ARGUMENT */
export function readTarHeader(block: Buffer): TarHeader {
  if (block.equals(END.subarray(0, BLOCK))) return { kind: 'end' };
  const name = block.toString('latin1', 0, block.indexOf(0));
  const size = Number.parseInt(block.toString('latin1', 124, 135), 8);
  const type = block.toString('latin1', 156, 157);
  if (
    !Number.isSafeInteger(size) ||
    (type !== '0' && type !== 'x') ||
    !header(name, size, type).equals(block)
  )
    throw badImport('it is no archive that an export makes');
  return type === '0' ? { kind: 'file', name, size } : { kind: 'pax', size };
}

/** The size that a pax header gives. @throws INVALID_ARGUMENT */
export function readPaxSize(record: Buffer): number {
  const size = Number(/^\d+ size=(\d{1,16})\n$/.exec(record.toString('latin1'))?.[1]);
  if (!Number.isSafeInteger(size) || size < LARGE || !paxRecord('size', String(size)).equals(record))
    throw badImport('it is no archive that an export makes');
  return size;
}

function header(name: string, size: number, type: '0' | 'x'): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name.slice(0, 100), 0, 'latin1');
  block.write('0000600\0' + '0000000\0'.repeat(2), 100, 'latin1');
  block.write(`${size.toString(8).padStart(11, '0').slice(-11)}\0${'0'.repeat(11)}\0`, 124, 'latin1');
  block.write(`        ${type}`, 148, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** Its length counts its own digits. */
function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.from(`${length}${rest}`, 'latin1');
}
