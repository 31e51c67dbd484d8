import { describe, expect, test } from 'vitest';
import { expand } from '../src/index.ts';
import { expandByTheBook } from './rfc6570.ts';
import { sections } from './support/rfc6570-examples.ts';

describe.each(sections)('RFC 6570 section %s', (_, rows) => {
  test.each(rows)('%s', (template, values, expansion) => {
    expect(expand(template, values)).toBe(expansion);
    // so that the other half of the property tests is right too
    expect(expandByTheBook(template, values)).toBe(expansion);
  });
});

test('none is left out', () => {
  const counts = sections.map(([, rows]) => rows.length);
  expect(counts).toEqual([9, 2, 6, 16, 42, 5, 2, 9, 16, 17, 12, 14, 14, 13, 10, 10]);
});
