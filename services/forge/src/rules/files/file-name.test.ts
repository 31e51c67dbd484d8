import { describe, expect, it } from 'vitest';
import { checkFileType, cleanFileName } from './file-name.ts';

describe('names of attachments', () => {
  it.each([
    ['photo.png', 'photo.png'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\x.txt', 'x.txt'],
    ['/', 'attachment'],
    ['..', 'attachment'],
    ['', 'attachment'],
    ['  spaced .txt ', 'spaced .txt'],
    ['a\r\nSet-Cookie: x', 'aSet-Cookie: x'],
    ['nul\0.txt', 'nul.txt'],
    ['gpj.\u202eexe', 'gpj.exe'],
    ['zero\u200bwidth', 'zerowidth'],
    ['\ud800.txt', '.txt'],
    ['Ärger 文.pdf', 'Ärger 文.pdf'],
  ])('%j becomes %j', (name, expected) => expect(cleanFileName(name)).toBe(expected));

  it('are no longer than a file system takes', () => {
    expect(Buffer.byteLength(cleanFileName('ä'.repeat(5000)))).toBeLessThanOrEqual(255);
    expect(cleanFileName('x'.repeat(300))).toHaveLength(255);
  });

  it.each([
    ['a.png', [], true],
    ['a.PNG', ['.png'], true],
    ['a.tar.gz', ['.tar.gz', '.zip'], true],
    ['a.exe', ['.png'], false],
    ['png', ['.png'], false],
    ['a.png.exe', ['.png'], false],
  ])('%j with %j: %j', (name, endings, allowed) => {
    const check = () => checkFileType(name, endings);
    if (allowed) expect(check).not.toThrow();
    else expect(check).toThrow('not allowed');
  });
});
