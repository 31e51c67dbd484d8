import { expect, test } from 'vitest';
import { jsonbBytes } from './jsonb-bytes.ts';

test.each([
  ['{}', {}],
  ['{"a": [1, 2, []], "b": {"c": null}}', { a: [1, 2, []], b: { c: null } }],
  ['{"ä\\n\\u0001": "\\"é\\\\"}', { 'ä\n\u0001': '"é\\' }],
  ['[true, false, 0, -1.5, 100000000000000000000]', [true, false, -0, -1.5, 1e20]],
  ['[0.000001, 0.0000001, -0.00000015, 0.00000000012345]', [1e-6, 1e-7, -1.5e-7, 1.2345e-10]],
])('%s has as many bytes', (text, value) => {
  expect(jsonbBytes(value)).toBe(Buffer.byteLength(text));
});
