import { expect, it } from 'vitest';
import { type Editable, planEdit } from './issue-edit.ts';

const then = new Date('2026-01-01T00:00:00Z');
const now = new Date('2026-02-02T00:00:00Z');
const open: Editable = {
  title: 'T',
  body: 'B',
  ref: '',
  deadline_at: then,
  closed_at: null,
  merged_at: null,
};
const closed = { ...open, closed_at: then };
const merged = { ...closed, merged_at: then };

it.each([
  ['nothing', open, {}, true, {}, undefined],
  ['a title', open, { title: ' New ' }, false, { title: 'New' }, undefined],
  ['an empty title', open, { title: ' ' }, false, {}, undefined],
  ['an empty body', open, { body: '' }, false, { body: '' }, undefined],
  ['a deadline by a writer', open, { removeDeadline: true }, true, { deadline_at: null }, undefined],
  ['a deadline by somebody else', open, { removeDeadline: true }, false, {}, undefined],
  ['closing', open, { state: 'closed' }, false, { closed_at: now }, 'close'],
  ['closing what is closed', closed, { state: 'closed' }, false, {}, undefined],
  ['reopening', closed, { state: 'open' }, false, { closed_at: null }, 'reopen'],
  ['reopening with another word', closed, { state: '' }, false, { closed_at: null }, 'reopen'],
  ['null as state', closed, { state: null }, false, {}, undefined],
] as const)('%s', (_what, current, wanted, isWriter, change, transition) => {
  const { merged_at: _, ...before } = current;
  expect(planEdit(current, wanted, isWriter, now)).toEqual({ result: { ...before, ...change }, transition });
});

it('state rule: a merged pull request stays merged, whatever else is asked', () => {
  expect(() => planEdit(merged, { state: 'open' }, true, now)).toThrow('already merged');
  expect(() => planEdit(merged, { state: 'closed' }, true, now)).toThrow('already merged');
  expect(planEdit(merged, { title: 'New' }, true, now).result.title).toBe('New');
});

it('a title has at most 255 characters', () => {
  expect(() => planEdit(open, { title: 'x'.repeat(256) }, true, now)).toThrow('[Title]: MaxSize(255)');
});
