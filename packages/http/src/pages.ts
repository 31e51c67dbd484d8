/** A page as HTML, without scripts or anything else that is fetched. */
export type Page = string;

/** What is asked before something is done, as whatever follows links by itself presses no button; and the form that is the answer. */
export interface Question {
  heading: string;
  /** A paragraph, or several. */
  text: string | readonly string[];
  /** Where the form goes; relative to the page. */
  action: string;
  /** What it carries. */
  fields?: Readonly<Record<string, string>>;
  /** What is to be filled in. */
  inputs?: readonly Input[];
  /** What can be pressed; the first one is what the return key presses. */
  buttons?: readonly { label: string; name: string; value: string }[];
}

/** A line that a person fills in. */
export interface Input {
  name: string;
  label: string;
  isSecret: boolean;
  /** What browsers and password managers know it as. */
  autocomplete: string;
  value?: string;
}

/**
 * The page for a question. Its answer is a page as well, such as `onwardPage`, and no redirect: browsers hold the policy of a form against
 * where its answer redirects to, and against every redirect that others answer there.
 */
export function questionPage({ heading, text, action, fields = {}, inputs = [], buttons }: Question): Page {
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">\n`,
  );
  const presses = buttons?.map(
    ({ label, name, value }) =>
      `<button type="submit" name="${escaped(name)}" value="${escaped(value)}">${escaped(label)}</button>\n`,
  ) ?? ['<button type="submit">Continue</button>\n'];
  const form = `<form method="post" action="${escaped(action)}">
${hidden.join('')}${inputs.map(line).join('')}${presses.join('')}</form>
`;
  return pageOf(heading, '', paragraphs(text) + form);
}

/** Where somebody goes on. */
export interface Onward {
  heading: string;
  /** A paragraph, or several. */
  text: string | readonly string[];
  /** Absolute; of whatever scheme browsers go to. */
  target: string;
  /** Whether the browser goes there by itself; else only who follows the link. */
  isAtOnce: boolean;
}

/** The page that leads on to another site, which its link names. */
export function onwardPage({ heading, text, target, isAtOnce }: Onward): Page {
  const refresh = isAtOnce ? `<meta http-equiv="refresh" content="0;url=${escaped(target)}">\n` : '';
  const link = `<p><a href="${escaped(target)}">Go on to ${escaped(siteOf(target))}</a></p>\n`;
  return pageOf(heading, refresh, paragraphs(text) + link);
}

/** How an address is called in words: its host, or its scheme where there is none. */
export function siteOf(address: string): string {
  const { protocol, host } = new URL(address);
  return host === '' ? protocol : host;
}

/** Headers of a page; its address holds secrets. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

function pageOf(heading: string, head: string, body: string): Page {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${head}<title>${escaped(heading)}</title>
</head>
<body>
<main>
<h1>${escaped(heading)}</h1>
${body}</main>
</body>
</html>
`;
}

const paragraphs = (text: string | readonly string[]) =>
  [text]
    .flat()
    .map((one) => `<p>${escaped(one)}</p>\n`)
    .join('');

function line({ name, label, isSecret, autocomplete, value = '' }: Input): string {
  const attributes = Object.entries({
    type: isSecret ? 'password' : 'text',
    name,
    autocomplete,
    value,
  }).map(([key, given]) => `${key}="${escaped(given)}"`);
  return `<p><label>${escaped(label)} <input ${attributes.join(' ')}></label></p>\n`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
