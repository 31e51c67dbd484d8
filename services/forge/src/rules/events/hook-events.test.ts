import { describe, expect, it } from 'vitest';
import { coarseEvent, eventsOfMove, readHookEvents } from './hook-events.ts';

describe('readHookEvents', () => {
  it.each([
    [[], ['push']],
    [['issues'], ['issues', 'issue_assign', 'issue_label', 'issue_milestone', 'issue_comment']],
    [['issues_only'], ['issues']],
    [
      ['pull_request_only', 'issue_comment'],
      ['issue_comment', 'pull_request'],
    ],
    [
      ['pull_request_review'],
      ['pull_request_review_approved', 'pull_request_review_rejected', 'pull_request_review_comment'],
    ],
    [
      ['push', 'create', 'push'],
      ['create', 'push'],
    ],
  ])('%j asks for %j', (wanted, events) => {
    expect(readHookEvents(wanted)).toEqual(events);
  });

  it('takes a pull request with everything around it', () => {
    expect(readHookEvents(['pull_request'])).toHaveLength(10);
  });

  it.each(['', 'pushes', 'Push', 'issues ', '__proto__'])('passes over %j, and refuses it alone', (name) => {
    expect(readHookEvents([name, 'push'])).toEqual(['push']);
    expect(() => readHookEvents([name])).toThrow(`Invalid hook event: ${name}`);
  });
});

it.each([
  ['push', 'push'],
  ['issues', 'issues'],
  ['issue_assign', 'issues'],
  ['issue_comment', 'issue_comment'],
  ['pull_request_comment', 'issue_comment'],
  ['pull_request_sync', 'pull_request'],
  ['pull_request_review_request', 'pull_request'],
  ['pull_request_review_approved', 'pull_request_approved'],
  ['repository', 'repository'],
] as const)('coarseEvent of %s is %s', (type, coarse) => {
  expect(coarseEvent(type)).toBe(coarse);
});

const NONE = '0'.repeat(40);
const OLD = 'a'.repeat(40);
const NEW = 'b'.repeat(40);

it.each([
  ['refs/heads/a/b', NONE, NEW, ['create', 'push']],
  ['refs/heads/main', OLD, NEW, ['push']],
  ['refs/heads/main', OLD, NONE, ['delete', 'push']],
  ['refs/tags/v1', NONE, NEW, ['create', 'push']],
  ['refs/tags/v1', OLD, NEW, ['push']],
  ['refs/tags/v1', OLD, NONE, ['delete', 'push']],
  ['refs/notes/commits', NONE, NEW, []],
  ['refs/notes/commits', OLD, NEW, []],
  ['refs/queue/main/pr-1', NONE, NEW, ['push']],
  ['refs/queue/main/pr-1', OLD, NEW, ['push']],
])('of %s from %s to %s hooks are told %j', (ref, before, after, events) => {
  expect(eventsOfMove({ ref, before, after })).toEqual(events);
});
