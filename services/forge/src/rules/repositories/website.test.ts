import { expect, it } from 'vitest';
import { checkWebsite } from './website.ts';

it.each([
  '',
  'https://garden.example/a?b=c#d',
  'HTTP://garden.example',
  'garden.example',
  'garden.example:8080/path',
  '//garden.example',
  '/docs/',
  'see the wiki: there is more',
  'ä'.repeat(1024),
])('a website: %s', (text) => {
  expect(() => checkWebsite(text)).not.toThrow();
});

it.each([
  ['a script', 'javascript:alert(1)'],
  ['a script in capitals', 'JavaScript:alert(1)'],
  ['a script that looks like a port', 'javascript:1/alert(1)'],
  ['a script behind what browsers skip', ' \u0001\tjavascript:alert(1)'],
  ['a script with what browsers leave out in it', 'java\nscript\t:alert(1)'],
  ['data', 'data:text/html,<script>alert(1)</script>'],
  ['a file', 'file:///etc/passwd'],
  ['an address of a mailbox', 'mailto:ada@garden.example'],
])('no website: %s', (_what, text) => {
  expect(() => checkWebsite(text)).toThrow('[Website]: ValidUrl');
});

it('a website has a length', () => {
  expect(() => checkWebsite('x'.repeat(1025))).toThrow('[Website]: MaxSize(1024)');
});
