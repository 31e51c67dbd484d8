import { expect, it } from 'vitest';
import { busy, mayNotMerge } from '../failures.ts';
import { Attempts } from './attempts.ts';

const at = (seconds: number) => new Date(seconds * 1000);

it('gives up what goes wrong three times, and not what is looked at three times in one bad moment', () => {
  const attempts = new Attempts();
  const told = [0, 1, 2, 3, 4, 6, 7, 12].map((seconds) => attempts.fail(1, at(seconds)));
  expect(told).toEqual([false, false, false, false, false, false, false, true]);
  expect(attempts.fail(2, at(12))).toBe(false);
});

it('begins anew with what went well meanwhile', () => {
  const attempts = new Attempts();
  for (const seconds of [0, 10]) attempts.fail(1, at(seconds));
  attempts.forget(1);
  expect([20, 30, 40].map((seconds) => attempts.fail(1, at(seconds)))).toEqual([false, false, true]);
});

it('gives up at once what was refused, and not what only the moment forbids', () => {
  expect(new Attempts().isFinal(1, mayNotMerge(), at(0))).toBe(true);
  for (const error of [busy('questions'), new Error('no')]) {
    const attempts = new Attempts();
    expect([0, 10, 20].map((seconds) => attempts.isFinal(1, error, at(seconds)))).toEqual([
      false,
      false,
      true,
    ]);
  }
});
