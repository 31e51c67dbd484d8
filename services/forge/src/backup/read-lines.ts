import type { FileHandle } from 'node:fs/promises';

const END = 0x0a;

/**
 * Lines of a file, one after the other; what stands behind the last end is one too, if it is not empty. A line ends at
 * a line feed and nowhere else: node:readline takes U+2028 and U+2029 for ends, which JSON has in its texts as they are.
 */
export async function* readLines(file: FileHandle): AsyncGenerator<string> {
  let begun: Buffer[] = [];
  for await (const chunk of file.createReadStream() as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(END); end >= 0; end = chunk.indexOf(END, start)) {
      yield Buffer.concat([...begun, chunk.subarray(start, end)]).toString();
      begun = [];
      start = end + 1;
    }
    if (start < chunk.length) begun.push(chunk.subarray(start));
  }
  if (begun.length > 0) yield Buffer.concat(begun).toString();
}
