import { describe, expect, it } from 'vitest';
import { planLabels, readColor, scopeOf, sortAsNamed } from './label.ts';

describe('a colour', () => {
  it.each([
    ['#00AAbb', '00aabb'],
    ['00aabb', '00aabb'],
    [' #fff ', 'ffffff'],
    ['a1c', 'aa11cc'],
  ])('%s is kept as %s', (text, kept) => expect(readColor(text)).toBe(kept));

  it.each(['', '#', 'red', '#12345', '#1234567', 'ff00gg', '##fff', '#fff; x', '\u0661\u0662\u0663'])(
    '%s is none',
    (text) => expect(() => readColor(text)).toThrow('bad color value'),
  );
});

it.each([
  ['bug', undefined],
  ['kind/bug', 'kind'],
  ['Kind/Bug/UI', 'kind/bug'],
  ['/bug', undefined],
  ['kind/', undefined],
])('the scope of %s is %s', (name, scope) => expect(scopeOf(name)).toBe(scope));

describe('labels of an issue', () => {
  const label = (id: number, name: string, exclusive = false) => ({ id, name, exclusive });
  const bug = label(1, 'bug');
  const low = label(2, 'priority/low', true);
  const high = label(3, 'Priority/high', true);
  const urgent = label(5, 'priority/urgent', true);
  const open = label(4, 'priority/open');

  it.each([
    ['adding', [bug], [low], 'add', [bug, low], [low], []],
    ['adding what is there', [bug], [bug], 'add', [bug], [], []],
    ['replacing', [bug, low], [low], 'replace', [low], [], [bug]],
    ['taking away', [low, urgent, bug], [bug, open], 'remove', [low, urgent], [], [bug]],
    ['clearing', [bug, low], [], 'replace', [], [], [bug, low]],
    ['an exclusive one takes the place of its scope', [bug, low], [high], 'add', [bug, high], [high], [low]],
    ['one that is not exclusive stays beside', [open], [high], 'add', [open, high], [high], []],
    ['one that is not exclusive comes beside', [high], [open], 'add', [high, open], [open], []],
    ['of two of a scope the last one counts', [], [low, high], 'replace', [high], [high], []],
    ['two that became exclusive later go', [low, urgent], [high], 'add', [high], [high], [low, urgent]],
    ['one comes again', [], [low, high, low], 'replace', [low], [low], []],
    ['given twice', [], [bug, bug], 'add', [bug], [bug], []],
  ] as const)('%s', (_what, current, wanted, how, result, added, removed) => {
    expect(planLabels(current, wanted, how)).toEqual({ result, added, removed });
  });

  it.each([
    [
      ['Bug', 2],
      [bug, low],
    ],
    [
      [2, 'priority/HIGH', 1],
      [low, high, bug],
    ],
    [
      ['bug', 3, 1],
      [bug, high],
    ],
    [
      [3, 'bug', 1],
      [high, bug],
    ],
    [
      [2, 'nobody', 1, 2],
      [low, bug],
    ],
  ])('named as %j are in that order', (names, sorted) => {
    expect(
      sortAsNamed(
        names,
        sorted.toSorted((a, b) => a.id - b.id),
      ),
    ).toEqual(sorted);
    expect(
      sortAsNamed(
        names,
        sorted.toSorted((a, b) => b.id - a.id),
      ),
    ).toEqual(sorted);
  });

  it('are put in their order in no time, however many are named', () => {
    const many = Array.from({ length: 100 }, (_, index) => label(100 - index, `l${index}`));
    const names = [...Array<number>(400_000).fill(0), ...many.map(({ id }) => id)];
    const begin = performance.now();
    expect(sortAsNamed(names, many.toReversed())).toEqual(many);
    expect(performance.now() - begin).toBeLessThan(1000);
  });

  it.each([
    ['of as many scopes', (id: number) => label(id, `scope ${id}/x`, true), 'MaxSize'],
    ['of one scope', (id: number) => label(id, `scope/${id}`, true), undefined],
    ['that are not exclusive', (id: number) => label(id, `${id}`), 'MaxSize'],
  ])('twenty thousand %s are put together in no time', (_which, labelOf, refusal) => {
    const many = Array.from({ length: 20_000 }, (_, id) => labelOf(id));
    const begin = performance.now();
    const plan = () => planLabels([], many, 'replace');
    if (refusal === undefined) expect(plan().result).toEqual(many.slice(-1));
    else expect(plan).toThrow(refusal);
    expect(performance.now() - begin).toBeLessThan(2000);
  });

  it('are a hundred at most', () => {
    const many = Array.from({ length: 101 }, (_, id) => label(id, `${id}`));
    expect(() => planLabels([], many, 'replace')).toThrow('MaxSize');
  });
});
