import { expect, it } from 'vitest';
import { chunks } from './dump.ts';

it.each([1, 2, 3, 4, 5, 7, 100])('cuts into pieces of at most %d bytes that join to the text', (size) => {
  const text = 'aé€👾'.repeat(9);
  const pieces = chunks(text, Math.max(size, 4));
  expect(pieces.join('')).toBe(text);
  for (const piece of pieces) {
    expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(Math.max(size, 4));
    expect(piece).not.toContain('\ufffd');
  }
});

it('leaves what fits in one piece, also the empty text', () => {
  expect(chunks('x'.repeat(100), 100)).toHaveLength(1);
  expect(chunks('', 100)).toEqual(['']);
});
