import { describe, expect, it } from 'vitest';
import { coAuthors, mergeMessage, type PullWords, rebaseMessage, templatePath } from './merge-message.ts';

const pull: PullWords = {
  title: 'T',
  number: 7,
  body: 'Why',
  posterName: 'ada',
  baseBranch: 'b',
  headBranch: 'h',
  baseRepository: { owner: 'ada', name: 'work' },
  headRepository: { owner: 'ada', name: 'work' },
  closes: [3, 4],
  page: 'https://forge.test/ada/work/pulls/7',
  approvers: ['Bob <bob@x>', 'cleo <cleo@x>'],
};
const none = { title: '', message: '' };

describe('merge rule 6', () => {
  it.each([
    ['', '', "Merge pull request 'T' (#7) from h into b"],
    ['  ', ' body ', "Merge pull request 'T' (#7) from h into b\n\nbody"],
    [' Mine ', '', 'Mine'],
    ['Mine', 'more', 'Mine\n\nmore'],
  ])('title %j and message %j', (title, message, text) => {
    expect(mergeMessage({ title, message }, 'merge', pull, undefined)).toBe(text);
  });

  it.each([
    ['rebase-merge', "Merge pull request 'T' (#7) from h into b"],
    ['squash', 'T (#7)'],
  ] as const)('the default of %s', (style, text) => {
    expect(mergeMessage(none, style, pull, undefined)).toBe(text);
  });

  it.each([
    [{ owner: 'bob', name: 'work' }, "Merge pull request 'T' (#7) from bob/work:h into b"],
    [undefined, "Merge pull request 'T' (#7) from <deleted>:h into b"],
  ])('names the repository of a head elsewhere', (headRepository, text) => {
    expect(mergeMessage(none, 'merge', { ...pull, headRepository }, undefined)).toBe(text);
  });
});

describe('a template', () => {
  const template =
    '\n${PullRequestTitle} ${PullRequestReference} ${Nobody}\n\n${ClosingIssues}\n${PullRequestDescription}\n';

  it('gives title and text, with what it names filled in', () => {
    expect(mergeMessage(none, 'merge', pull, template)).toBe('T #7 ${Nobody}\n\nclose #3, close #4\nWhy');
  });

  it('gives way to the words of the caller', () => {
    expect(mergeMessage({ title: 'Mine', message: '' }, 'merge', pull, template)).toBe('Mine');
    expect(mergeMessage({ title: '', message: 'mine' }, 'merge', pull, template)).toBe(
      'T #7 ${Nobody}\n\nmine',
    );
  });

  it('is filled once: words that look like names stay words', () => {
    const sly = { ...pull, title: '${PullRequestDescription} $& $1' };
    expect(mergeMessage(none, 'merge', sly, '${PullRequestTitle}')).toBe('${PullRequestDescription} $& $1');
  });

  it('is no longer than a text, however often it names one', () => {
    const body = 'x'.repeat(400_000);
    const often = `T\n${'${PullRequestDescription}\n'.repeat(2000)}`;
    const message = mergeMessage(none, 'squash', { ...pull, body }, often);
    expect(message.startsWith(`T\n\n${body}\n${body}\n\${PullRequestDescription}\n`)).toBe(true);
    expect(message.length).toBeLessThan(1_000_000);
  });

  it('names its page and who approved', () => {
    expect(mergeMessage(none, 'squash', pull, 'T\n${ReviewedOn}\n${ReviewedBy}')).toBe(
      'T\n\nReviewed-on: https://forge.test/ada/work/pulls/7\nReviewed-by: Bob <bob@x>\nReviewed-by: cleo <cleo@x>',
    );
    expect(mergeMessage(none, 'squash', { ...pull, approvers: [] }, 'T\n${ReviewedBy}')).toBe('T');
  });

  it('that says nothing leaves the default', () => {
    expect(mergeMessage(none, 'squash', pull, ' \n')).toBe('T (#7)');
  });

  it('has a file for each style', () => {
    expect(templatePath('rebase-merge')).toBe('.gitea/default_merge_message/REBASE-MERGE_TEMPLATE.md');
  });
});

describe('the last commit of a rebase', () => {
  const original = ' Fix it \n\nFor reasons.\n';

  it('gets the words of the template, which knows its own', () => {
    const template = '${CommitTitle} ${PullRequestReference}\n${CommitBody}\n${ReviewedBy}\n';
    expect(rebaseMessage(original, { ...pull, approvers: [] }, template)).toBe('Fix it #7\n\nFor reasons.');
    expect(rebaseMessage('Fix it', pull, '${CommitTitle}\n\n${CommitBody}')).toBe('Fix it');
  });

  it('keeps its own where the template says nothing', () => {
    expect(rebaseMessage(original, pull, ' \n')).toBe(original);
  });

  it('is the only one with them', () => {
    expect(mergeMessage(none, 'merge', pull, 'T ${CommitTitle}')).toBe('T ${CommitTitle}');
  });
});

it('a squash names its author where somebody else commits it', () => {
  expect(coAuthors('T', 'A <a@x>', 'A <a@x>')).toBe('T');
  expect(coAuthors('T', 'A <a@x>', 'B <b@x>')).toBe('T\n\nCo-authored-by: A <a@x>\nCo-committed-by: B <b@x>');
});
