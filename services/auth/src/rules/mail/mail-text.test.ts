import { describe, expect, test } from 'vitest';
import { type MailData, type MailKind, mailKinds } from './mail-kinds.ts';
import { readTemplate, writeHtml } from './mail-template.ts';
import { builtInTemplate, mailText, templateVariables } from './mail-text.ts';

const kinds = Object.keys(mailKinds) as MailKind[];
const data: MailData = {
  siteUrl: 'https://site.example',
  confirmationUrl: 'https://x.example/verify?token=abc&type=signup&redirect_to=https://site.example',
  email: 'ada@example.com',
  token: '012345',
  tokenHash: 'abc',
  data: { name: 'Ada' },
  redirectTo: 'https://site.example',
  newEmail: 'new@example.com',
  sendingTo: 'ada@example.com',
};
const builtIn = (kind: MailKind, change: Partial<MailData> = {}): string =>
  writeHtml(readTemplate(builtInTemplate(kind)), templateVariables(kind, { ...data, ...change }));

// The contract's Email table.
test.each([
  ['invite', 'You have been invited', 'You have been invited', 'Accept the invite'],
  ['confirmation', 'Confirm Your Signup', 'Confirm your signup', 'Confirm your mail'],
  ['recovery', 'Reset Your Password', 'Reset Password', 'Reset Password'],
  ['magic_link', 'Your Magic Link', 'Magic Link', 'Log In'],
  ['email_change', 'Confirm Email Change', 'Confirm Change of Email', 'Change Email'],
] as const)('%s: subject %j, heading %j and one link %j', (kind, subject, heading, linkText) => {
  const html = builtIn(kind);
  expect(mailKinds[kind].defaultSubject).toBe(subject);
  expect(html).toContain(`<h2>${heading}</h2>`);
  expect(html.match(/<h\d/g)).toHaveLength(1);
  expect(html).toContain(`<a href="${data.confirmationUrl.replaceAll('&', '&amp;')}">${linkText}</a>`);
  expect(html.match(/<a /g)).toHaveLength(1);
  const { text } = mailText(subject, html);
  expect(text).toContain(`${linkText}:\n${data.confirmationUrl}\n`);
  expect(text).toContain('enter the code: 012345');
});

test('a reauthentication mail has a code and no link', () => {
  const html = builtIn('reauthentication');
  expect(mailKinds.reauthentication.defaultSubject).toBe('Confirm reauthentication');
  expect(html).toContain('<h2>Confirm reauthentication</h2>');
  expect(html).toContain('enter the code: 012345');
  expect(html).not.toContain('<a ');
});

test('only a mail about a change names the new address', () => {
  const naming = kinds.filter((kind) => builtIn(kind).includes('new@example.com'));
  expect(naming).toEqual(['email_change']);
});

test('templates know the variables of their mail', () => {
  expect(templateVariables('email_change', data)).toEqual({
    SiteURL: data.siteUrl,
    ConfirmationURL: data.confirmationUrl,
    Email: data.email,
    Token: data.token,
    TokenHash: data.tokenHash,
    Data: data.data,
    RedirectTo: data.redirectTo,
    NewEmail: data.newEmail,
    SendingTo: data.sendingTo,
  });
  const known = Object.keys(templateVariables('reauthentication', data));
  expect(known).toEqual(['SiteURL', 'Email', 'Token', 'Data']);
});

describe.each(kinds)('HTML injection into a mail of kind %s', (kind) => {
  const bad = `"'><img src=x onerror=alert(1)><a href="javascript:alert(1)">{{ .Token }}`;
  const everywhere = Object.keys(templateVariables(kind, data))
    .map((name) => `<p title="{{ .${name} }}"><a href="{{ .${name} }}">{{ .${name} }}</a></p>`)
    .join('');
  const fields = [
    'siteUrl',
    'confirmationUrl',
    'email',
    'token',
    'tokenHash',
    'redirectTo',
    'newEmail',
    'sendingTo',
    'data',
  ] as const;

  test.each(fields)('through %s', (field) => {
    const change = { [field]: field === 'data' ? { [bad]: bad } : bad };
    for (const source of [builtInTemplate(kind), everywhere]) {
      const write = (values: MailData): string =>
        writeHtml(readTemplate(source), templateVariables(kind, values));
      const html = write({ ...data, ...change });
      // Tags and quotes, which are all that makes markup of it, are those of the template.
      const markup = (text: string): string[] => text.match(/<\/?[a-z][^\s>]*|["'>]/g) ?? [];
      expect(markup(html)).toEqual(markup(write(data)));
      expect(html).not.toContain('<img');
      expect(html).not.toMatch(/href="\s*javascript/);
    }
  });
});
