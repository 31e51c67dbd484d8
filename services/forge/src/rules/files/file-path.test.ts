import { describe, expect, it } from 'vitest';
import { readBase64 } from './base64.ts';
import { commitPeople, fileMessage } from './file-commit.ts';
import { checkFilePath, isHarmlessModules, isModules, mayBeLink } from './file-path.ts';

describe('checkFilePath', () => {
  it.each([
    ['README.md', 'README.md'],
    ['/docs/a b.md', 'docs/a b.md'],
    ['.gitignore', '.gitignore'],
    ['.github/x.yml', '.github/x.yml'],
    ['ünï/…/file', 'ünï/…/file'],
    ['a/...', 'a/...'],
    ['git', 'git'],
    ['-x', '-x'],
    ['a/--exec', 'a/--exec'],
    ['git~2', 'git~2'],
  ])('%s', (text, path) => expect(checkFilePath(text)).toBe(path));

  it.each([
    ['', 'empty'],
    ['/', 'empty'],
    ['//a', 'empty'],
    ['a//b', 'empty'],
    ['a/', 'empty'],
    ['.', 'no name'],
    ['a/../b', 'no name'],
    ['a\0b', 'control'],
    ['a\nb', 'control'],
    ['a\ud800', 'control'],
    ['.git', 'belongs to git'],
    ['a/.GiT/b', 'belongs to git'],
    ['.git . .', 'belongs to git'],
    ['GIT~1', 'belongs to git'],
    ['.git:x', 'belongs to git'],
    ['.g\u200cit', 'belongs to git'],
    ['a\\.git\\config', 'belongs to git'],
    ['x'.repeat(501), '500'],
    ['ü'.repeat(200), '255 bytes'],
  ])('refuses %j', (text, why) => expect(() => checkFilePath(text)).toThrow(why));
});

describe('what git takes instructions from', () => {
  it.each([
    ['a/link', true],
    ['.gitmodules', false],
    ['a/.GITIGNORE', false],
    ['.gitattributes.', false],
    ['GITATT~1', false],
    ['a/gi250a~1', false],
    ['maba3~12', false],
    ['gitatt~5', true],
    ['maba30~1 2', true],
  ])('%s may be a link: %s', (path, may) => expect(mayBeLink(path)).toBe(may));

  it.each([
    ['.gitmodules', true],
    ['a/.GitModules. ', true],
    ['.gitmodules/a', false],
    ['gitmodules', false],
    ['gitmod~1', true],
    ['a/GitMod~4. ', true],
    ['gitmod~5', false],
    ['gitmod~12', false],
    ['gi7eba~9', true],
    ['gi7e~123', true],
    ['gi7e~12', false],
    ['gi7d29~1', false],
    ['~1234567', false],
  ])('%s is read as .gitmodules: %s', (path, modules) => expect(isModules(path)).toBe(modules));

  it.each([
    ['[submodule "x"]\n path = x\n url = https://example.test/x\n', true],
    ['[submodule "a..b"]\n url = ../x\n', true],
    ['[submodule "../x"]', false],
    ['[submodule "x/../../y"]', false],
    ['[submodule "x"]\nurl = -x', false],
    ['[submodule "x"]\n\tURL = "-x"', false],
    ['[submodule "x"]\n\tpath=-x', false],
    ['[submodule "x"] url = -x', false],
    ['[submodule "x"]\nupdate = !sh', false],
    ['[submodule "a]b"] url = -x', false],
    ['[core] [submodule "x"] url = ""-x', false],
    ['[core] [submodule ".\\./x"]', false],
    ['\xef\xbb\xbf[submodule "../x"]', false],
    ['[submodule "x..]y"]\nurl = ../-x', true],
  ])('%j is harmless: %s', (text, harmless) =>
    expect(isHarmlessModules(Buffer.from(text, 'latin1'))).toBe(harmless),
  );

  it.each([
    ['a name without an end', `[submodule "${'../'.repeat(300_000)}`],
    ['empty lines', '\n'.repeat(1_000_000)],
    ['blanks', `[a]${' '.repeat(1_000_000)}`],
    ['headers', '[]'.repeat(500_000)],
    ['brackets', '['.repeat(1_000_000)],
    ['quotes', '["\\"'.repeat(250_000)],
    ['folders', `[submodule "${'/..'.repeat(300_000)}"`],
    ['keys', 'url '.repeat(250_000)],
  ])('takes time in proportion to a megabyte of %s', (_, text) => {
    const begin = performance.now();
    isHarmlessModules(Buffer.from(text));
    expect(performance.now() - begin).toBeLessThan(2000);
  });
});

describe('readBase64', () => {
  it.each([
    ['', ''],
    ['YQ==', 'a'],
    ['YW\nJj\r\n', 'abc'],
  ])('%j', (text, content) => expect(readBase64(text)?.toString()).toBe(content));
  it.each(['YQ', 'YQ=', 'Y===', 'YQ==YQ==', '_-==', 'ä', 'a b='])('refuses %j', (text) =>
    expect(readBase64(text)).toBeUndefined(),
  );
});

describe('the commit of changed files', () => {
  const caller = { name: 'Ada', email: 'ada@example.test' };
  const grace = { name: 'Grace', email: 'grace@example.test' };

  it.each([
    [{}, caller, caller],
    [{ author: grace }, grace, grace],
    [{ committer: grace }, grace, grace],
    [{ author: { name: 'Only', email: ' ' } }, { ...caller, name: 'Only' }, { ...caller, name: 'Only' }],
    [{ author: grace, committer: {} }, grace, caller],
  ])('%j', (given, author, committer) => expect(commitPeople(given, caller)).toEqual({ author, committer }));

  it('says what was done when nothing is said', () => {
    const change = { operation: 'put' as const, path: 'a', created: true };
    const others = [
      { operation: 'delete' as const, path: 'b', created: false },
      { operation: 'update' as const, path: 'c', created: false },
    ];
    expect(fileMessage(' ', [change, ...others], undefined)).toBe('Add a\nDelete b\nUpdate c');
    expect(fileMessage('Mine', [change], grace)).toBe('Mine\n\nSigned-off-by: Grace <grace@example.test>');
  });
});
