import { describe, expect, it } from 'vitest';
import { readReferences } from './references.ts';

const ROOT = 'https://forge.example.test';
/** In the spelling `action owner/name#number`. */
const read = (text: string) =>
  readReferences(text, ROOT).map(
    ({ repository, number, action }) =>
      `${action === 'none' ? '' : `${action} `}${repository ? `${repository.owner}/${repository.name}` : ''}#${number}`,
  );

describe('references', () => {
  it.each<[string, string[]]>([
    ['see #1', ['#1']],
    ['#1', ['#1']],
    ['(#1), [#2]: #3. and !4', ['#1', '#2', '#3', '#4']],
    ['#1 and #1 again', ['#1']],
    ['ada/tools#7 and other/thing!8', ['ada/tools#7', 'other/thing#8']],
    ['Ada/Tools#7 ada/tools#7', ['ada/tools#7']],
    [`${ROOT}/ada/tools/issues/5`, ['ada/tools#5']],
    [`${ROOT}/ada/tools/pulls/6#issuecomment-9 there`, ['ada/tools#6']],
    [`closes ${ROOT}/ada/tools/issues/5.`, ['closes ada/tools#5']],
  ])('%j names %j', (text, expected) => expect(read(text)).toEqual(expected));

  it.each<[string, string[]]>([
    ...['close', 'closes', 'closed', 'fix', 'fixes', 'fixed', 'resolve', 'resolves', 'resolved'].map(
      (word): [string, string[]] => [`This ${word} #3`, ['closes #3']],
    ),
    ['Fixes: #3', ['closes #3']],
    ['FIXES #3', ['closes #3']],
    ['fixes ada/tools#3', ['closes ada/tools#3']],
    ['Reopens #3', ['reopens #3']],
    ['see #3, closes #3', ['closes #3']],
    ['closes #1, #2', ['closes #1', '#2']],
    // No such words.
    ['prefixes #3', ['#3']],
    ['non-closes #3', ['#3']],
    ['fixes\n#3', ['#3']],
    ['closes the door #3', ['#3']],
    ['fixing #3', ['#3']],
  ])('%j wants %j', (text, expected) => expect(read(text)).toEqual(expected));

  it.each([
    '`#1`',
    '`` a ` #1 ``',
    '```\n#1\n```',
    '~~~\n```\n#1\n~~~',
    '```\n#1 never closed',
    '    #1 indented',
    'https://elsewhere.test/page#1',
    'https://elsewhere.test/ada/tools/issues/1',
    `${ROOT}.evil.test/ada/tools/issues/1`,
    `${ROOT}/ada/tools/issues/1x`,
    `${ROOT}/ada/tools/commit/1`,
    '&#39;',
    'word#1',
    '#1word',
    '#0',
    '#',
    '#1234567890',
    '##1',
    'a/b/c#1',
    'color: #123abc',
    '#1-2',
  ])('%j names nothing', (text) => expect(read(text)).toEqual([]));

  it('goes on behind code that was closed', () => {
    expect(read('`a` #1 ``b`` #2\n```\nx\n```\n#3')).toEqual(['#1', '#2', '#3']);
    expect(read('` #1')).toEqual(['#1']);
  });

  it('stops counting at fifty', () => {
    expect(read(Array.from({ length: 500 }, (_, index) => `#${index + 1}`).join(' '))).toHaveLength(50);
  });

  it.each([
    ['#', '#'.repeat(1_000_000)],
    ['backticks', '`'.repeat(1_000_000)],
    ['backticks of all lengths', Array.from({ length: 1400 }, (_, index) => '`'.repeat(index)).join(' ')],
    ['single backticks', '` '.repeat(500_000)],
    ['slashes', 'a/'.repeat(500_000)],
    ['one word', 'a'.repeat(1_000_000)],
    ['words with dots', 'a.-_'.repeat(250_000)],
    ['addresses', 'https://'.repeat(125_000)],
    ['spaces', `fixes${' '.repeat(1_000_000)}#1`],
    ['references', '#1 '.repeat(333_333)],
    ['fences', '```\n'.repeat(250_000)],
  ])('takes time in proportion to a megabyte of %s', (_, text) => {
    const begin = performance.now();
    readReferences(text, ROOT);
    expect(performance.now() - begin).toBeLessThan(2000);
  });
});
