import { describe, expect, it } from 'vitest';
import { listTargets, readReviewOptions, readReviewRef, readTopic } from './review-push.ts';

describe('a ref that asks for a review', () => {
  it.each([
    ['refs/for/main', { path: 'main', isDraft: false }],
    ['refs/for-review/a/b', { path: 'a/b', isDraft: false }],
    ['refs/draft/main/x', { path: 'main/x', isDraft: true }],
    ['refs/for/', undefined],
    ['refs/for', undefined],
    ['refs/forks/main', undefined],
    ['refs/heads/refs/for/main', undefined],
  ])('%s', (ref, read) => {
    expect(readReviewRef(ref)).toEqual(read);
  });

  it('may name every branch its path begins with', () => {
    expect(listTargets('release/1/fix')).toEqual([
      { base: 'release', topic: '1/fix' },
      { base: 'release/1', topic: 'fix' },
      { base: 'release/1/fix', topic: '' },
    ]);
    expect(listTargets('main/../other')).toEqual([{ base: 'main', topic: '../other' }]);
    expect(listTargets(`main/${'x/'.repeat(400)}`)).toEqual([]);
  });
});

describe('push options', () => {
  it('are read, the last of a name and none but ours', () => {
    expect(
      readReviewOptions(['topic=a', 'topic=b', 'title= T = t ', 'description=d', 'ci.skip', 'force-push']),
    ).toEqual({ topic: 'b', title: 'T = t', description: 'd', force: true });
    expect(readReviewOptions([])).toEqual({ topic: '', title: '', description: '', force: false });
    expect(readReviewOptions(['force-push=False']).force).toBe(false);
    expect(readReviewOptions(['title=a\0b']).title).toBe('ab');
  });

  it.each([
    'force-push=maybe',
    'force-push=',
    `title=${'x'.repeat(256)}`,
    `description=${'x'.repeat(1_000_001)}`,
  ])('are refused: %.40s', (line) => {
    expect(() => readReviewOptions([line])).toThrow();
  });
});

it.each([
  ['fix', 'fix'],
  ['ada/fix', 'fix'],
  ['bob/fix', 'bob/fix'],
  ['ada/', undefined],
  ['', undefined],
  ['../up', undefined],
  ['a..b', undefined],
  ['/fix', undefined],
  ['a b', undefined],
  ['x.lock', undefined],
  ['x'.repeat(300), undefined],
])('the topic %.20s of ada is %s', (topic, read) => {
  expect(readTopic(topic, 'ada')).toBe(read);
});
