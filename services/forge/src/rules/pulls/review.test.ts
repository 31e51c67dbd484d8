import { describe, expect, it } from 'vitest';
import { decideReviewKind } from './review.ts';

const others = { isMine: false, isClosed: false };
const nothing = { body: ' \n', hasComments: false };
const words = { body: 'words', hasComments: false };
const comments = { body: '', hasComments: true };

describe('what a review is to be', () => {
  it.each([
    ['APPROVED', nothing, 'APPROVED'],
    ['REQUEST_CHANGES', words, 'REQUEST_CHANGES'],
    ['COMMENT', words, 'COMMENT'],
    ['COMMENT', comments, 'COMMENT'],
    ['PENDING', words, 'PENDING'],
    ['', words, 'PENDING'],
    ['approved', words, 'PENDING'],
    ['REQUEST_REVIEW', words, 'PENDING'],
  ])('%s with %o is %s', (event, said, kind) => {
    expect(decideReviewKind(event, said, others)).toBe(kind);
  });

  it.each([
    ['REQUEST_CHANGES', nothing, 'review event REQUEST_CHANGES requires a body'],
    ['REQUEST_CHANGES', comments, 'review event REQUEST_CHANGES requires a body'],
    ['PENDING', comments, 'review event PENDING requires a body'],
    ['COMMENT', nothing, 'review event COMMENT requires a body or a comment'],
  ])('%s is refused with %o', (event, said, message) => {
    expect(() => decideReviewKind(event, said, others)).toThrow(message);
  });

  it('is no verdict on an own pull request, nor on a closed one', () => {
    const mine = { isMine: true, isClosed: false };
    const closed = { isMine: false, isClosed: true };
    expect(() => decideReviewKind('APPROVED', words, mine)).toThrow('approve your own pull is not allowed');
    expect(() => decideReviewKind('REQUEST_CHANGES', words, mine)).toThrow(
      'reject your own pull is not allowed',
    );
    for (const event of ['APPROVED', 'REQUEST_CHANGES'])
      expect(() => decideReviewKind(event, words, closed)).toThrow(/closed or merged/);
    for (const pull of [mine, closed]) expect(decideReviewKind('COMMENT', words, pull)).toBe('COMMENT');
  });
});
