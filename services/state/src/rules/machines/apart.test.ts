import { expect, it } from 'vitest';
import { checkApart } from './apart.ts';

const place = (...folders: (string | undefined)[]) => ({
  self: folders[0],
  above: folders.slice(1) as string[],
});
const check =
  (home: ReturnType<typeof place>, other: ReturnType<typeof place>, holdsMounts = false) =>
  () =>
    checkApart('/home/eve', home, [{ name: 'the home of ada', place: other, holdsMounts }]);

it.each([
  ['the same folder', place('ada', 'home', 'root'), place('ada', 'home', 'root')],
  ['the same folder by another way', place('ada', 'link', 'root'), place('ada', 'home', 'root')],
  ['in it', place('eve', 'ada', 'root'), place('ada', 'home', 'root')],
  ['not there yet, and in it', place(undefined, 'ada', 'root'), place('ada', 'root')],
  ['around it', place('home', 'root'), place('ada', 'home', 'root')],
  ['around one that is not there', place('home', 'root'), place(undefined, 'home', 'root')],
])('a home that is %s is refused', (_what, home, other) => {
  expect(check(home, other)).toThrow('is taken by the home of ada');
});

it.each([
  ['beside it', place('eve', 'home', 'root'), place('ada', 'home', 'root'), false],
  ['not there, as the other is', place(undefined, 'home', 'root'), place(undefined, 'home', 'root'), false],
  ['mounted in what holds mounts', place('eve', 'home', 'root'), place('root'), true],
])('a home that is %s is not', (_what, home, other, holdsMounts) => {
  expect(check(home, other, holdsMounts)).not.toThrow();
});

it('the place of what holds mounts is no home', () => {
  expect(check(place('root'), place('root'), true)).toThrow('is taken by');
});
