import { expect, it } from 'vitest';
import { cutHunks } from './diff-hunk.ts';

const cutHunk = (diff: string, line: number) => cutHunks(diff, [line]).get(line);

const DIFF = `diff --git a/lines.txt b/lines.txt
index 1..2 100644
--- a/lines.txt
+++ b/lines.txt
@@ -1,6 +1,6 @@ some function
 one
 two
--- three
+++ drei
 four
 five
 six
@@ -20,3 +20,2 @@
 twenty
-gone
 last
\\ No newline at end of file
`;

it.each([
  ['a line that was added', 3, '@@ -1,3 +1,3 @@\n one\n two\n--- three\n+++ drei'],
  ['a line that was removed', -3, '@@ -1,3 +1,2 @@\n one\n two\n--- three'],
  ['a line that stayed, after the change', 5, '@@ -3,3 +3,3 @@\n--- three\n+++ drei\n four\n five'],
  ['a line that stayed, before it', -5, '@@ -3,3 +3,3 @@\n--- three\n+++ drei\n four\n five'],
  ['the second hunk', -21, '@@ -20,2 +20,1 @@\n twenty\n-gone'],
  ['its end', 21, '@@ -20,3 +20,2 @@\n twenty\n-gone\n last'],
])('%s', (_what, line, hunk) => {
  expect(cutHunk(DIFF, line)).toBe(hunk);
});

it.each([7, -7, 19, 22, -23, 2 ** 31, 0])('line %i is in none', (line) => {
  expect(cutHunk(DIFF, line)).toBeUndefined();
});

it('is in none of a binary file', () => {
  expect(cutHunk('Binary files a/x and b/x differ\n', 1)).toBeUndefined();
});

it('of many lines of a long diff are cut in one go', () => {
  const many = 1_000_000;
  const diff = `@@ -0,0 +1,${many} @@\n${'+x\n'.repeat(many)}`;
  const lines = Array.from({ length: 50 }, (_, index) => many - index);
  const begin = performance.now();
  const hunks = cutHunks(diff, lines);
  expect(performance.now() - begin).toBeLessThan(4000);
  expect([...hunks.keys()].toSorted((a, b) => b - a)).toEqual(lines);
  expect(hunks.get(many)).toBe(`@@ -0,0 +${many - 3},4 @@\n+x\n+x\n+x\n+x`);
  expect(cutHunks(DIFF, [3, -3, 3, 7, 21]).size).toBe(3);
});
