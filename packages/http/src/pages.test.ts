import { expect, test } from 'vitest';
import { onwardPage, questionPage, siteOf } from './pages.ts';

const evil = `"'><script>&`;

test('nothing of a question is more than text', () => {
  const page = questionPage({
    heading: evil,
    text: [evil, evil],
    action: evil,
    fields: { [evil]: evil },
    inputs: [{ name: evil, label: evil, isSecret: true, autocomplete: evil, value: evil }],
    buttons: [{ label: evil, name: evil, value: evil }],
  });
  expect(page).not.toMatch(/<script|"'>/);
  expect(page.match(/&quot;&#39;&gt;&lt;script&gt;&amp;/g)).toHaveLength(14);
});

test.each([true, false])('a page leads on to an address and names its host, at once: %j', (isAtOnce) => {
  const target = `https://site.example/?a=1&b=${evil}`;
  const page = onwardPage({ heading: evil, text: evil, target, isAtOnce });
  expect(page).not.toMatch(/<script|"'>/);
  expect(page).toContain(
    '<a href="https://site.example/?a=1&amp;b=&quot;&#39;&gt;&lt;script&gt;&amp;">Go on to site.example</a>',
  );
  expect(page.includes('http-equiv="refresh" content="0;url=https://site.example/?a=1&amp;b=&quot;')).toBe(
    isAtOnce,
  );
});

test('an application’s own scheme has no host', () => {
  expect(siteOf('com.example.app:/after')).toBe('com.example.app:');
});
