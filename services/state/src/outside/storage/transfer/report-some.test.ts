import { expect, it } from 'vitest';
import { reportSome } from './report-some.ts';

it.each([
  ['/', '/file 0 was left out', 'and 5 more of /'],
  ['/home/ada', '/home/ada/file 0 was left out', 'and 5 more of /home/ada'],
])('what is in %s is told by its path', (path, first, last) => {
  const told: string[] = [];
  const lines = Array.from({ length: 25 }, (_, at) => `file ${at} was left out`);
  reportSome(lines, { path }, (line) => told.push(line));
  expect([told[0], told.at(-1), told.length]).toEqual([first, last, 21]);
});
