import { expect, it } from 'vitest';
import { drawAvatar } from './avatar.ts';

it('each account has a picture of its own, which is always the same', () => {
  const ids = [-1, 0, ...Array.from({ length: 500 }, (_, n) => n + 1)];
  const pictures = ids.map(drawAvatar);
  expect(new Set(pictures).size).toBe(ids.length);
  expect(ids.map(drawAvatar)).toEqual(pictures);
  for (const picture of pictures)
    expect(picture).toMatch(
      /^<svg xmlns="[^"]+" [^<>]+><path [^<>]+\/><path fill="hsl\(\d+ 55% 45%\)" d="[Mhvz\d -]*"\/><\/svg>$/,
    );
});

it('both halves are the same', () => {
  const fields = [...drawAvatar(7).matchAll(/M(\d) (\d)h1/g)].map(([, x, y]) => [Number(x), Number(y)]);
  expect(fields.map(([x = 0, y]) => [4 - x, y]).sort()).toEqual(fields.sort());
  expect(fields.length).toBeGreaterThan(0);
});
