import { expect, it } from 'vitest';
import { pathBytes, pathIn, pathText } from './path-text.ts';

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

it.each([
  ['hosts', 'hosts'],
  ['a b"c\\d', 'a b"c\\d'],
  ['100%', '100%25'],
  [latin1('ünïcödé €👾'), 'ünïcödé €👾'],
  ['latin-\xe9\x0a\xff', 'latin-%E9%0A%FF'],
  ['tab\tnul\x7f', 'tab%09nul%7F'],
  [latin1('right\u202eleft'), 'right%E2%80%AEleft'],
  // A name that is part UTF-8 and part not is shown by its bytes.
  [`${latin1('é')}\xff`, '%C3%A9%FF'],
])('%j is written %j and read back', (bytes, text) => {
  expect(pathText(bytes)).toBe(text);
  expect(pathBytes(text)).toBe(bytes);
});

it('gives every sequence of bytes a text of its own that leads back to it', () => {
  let seed = 1;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed >>> 8;
  };
  const texts = new Map<string, string>();
  for (let round = 0; round < 20_000; round++) {
    const bytes = Array.from({ length: 1 + (random() % 4) }, () => String.fromCharCode(random() % 256)).join(
      '',
    );
    const text = pathText(bytes);
    expect(pathBytes(text)).toBe(bytes);
    expect(texts.get(text) ?? bytes).toBe(bytes);
    texts.set(text, bytes);
  }
});

it.each([
  ['/etc', 'hosts', '/etc/hosts'],
  ['/etc', '.', '/etc'],
  ['/', 'etc/hosts', '/etc/hosts'],
  ['/', '.', '/'],
])('%s has %s at %s', (folder, below, path) => {
  expect(pathIn(folder, below)).toBe(path);
});
