import { expect, test } from 'vitest';
import { wording, writeLinkMail } from './mail-text.ts';

const mail = {
  ...wording.confirmation,
  subject: 'Confirm Your Signup',
  url: 'https://x.example/?a=1&b=2',
  code: '012345',
};

test("the contract's heading and link text, the link and the code, in both parts", () => {
  const { subject, html, text } = writeLinkMail(mail);
  expect(subject).toBe('Confirm Your Signup');
  expect(html).toContain('<h2>Confirm your signup</h2>');
  expect(html).toContain('<a href="https://x.example/?a=1&amp;b=2">Confirm your mail</a>');
  expect(html.match(/<a /g)).toHaveLength(1);
  expect(html).toContain('012345');
  expect(text).toContain('Confirm your mail:\nhttps://x.example/?a=1&b=2');
  expect(text).toContain('012345');
});

test('nothing in a value can become markup', () => {
  const { html } = writeLinkMail({ ...mail, url: `https://x.example/"onclick='x'><script>&` });
  expect(html).toContain('href="https://x.example/&#34;onclick=&#39;x&#39;&gt;&lt;script&gt;&amp;"');
  expect(html).not.toContain('<script');
});
