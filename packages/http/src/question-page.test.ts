import { expect, test } from 'vitest';
import { pageHeaders, questionPage } from './question-page.ts';

test('nothing of it is more than text, and it leads to the target alone', () => {
  const evil = `"'><script>&`;
  const page = questionPage(
    {
      heading: evil,
      text: [evil, evil],
      action: evil,
      fields: { [evil]: evil },
      inputs: [{ name: evil, label: evil, isSecret: true, autocomplete: evil, value: evil }],
      buttons: [{ label: evil, name: evil, value: evil }],
    },
    'https://site.example/a?b',
  );
  expect(page.html).not.toMatch(/<script|"'>/);
  expect(page.html.match(/&quot;&#39;&gt;&lt;script&gt;&amp;/g)).toHaveLength(14);
  expect(pageHeaders(page)).toEqual({
    'content-security-policy':
      "default-src 'none'; form-action 'self' https://site.example; base-uri 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
});

test('an application’s own scheme has no origin', () => {
  const { policy } = questionPage({ heading: '', text: '', action: '' }, 'com.example.app://after');
  expect(policy).toContain("form-action 'self' com.example.app:;");
});
