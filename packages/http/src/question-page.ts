/** A page that asks before something is done: whatever follows links by itself presses no button. */
export interface QuestionPage {
  html: string;
  /** Value of Content-Security-Policy: nothing but the form, and where it leads in the end. */
  policy: string;
}

/** What is asked, and the form that is the answer. */
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
 * The page for a question.
 * @param target where the answer to the form redirects to; undefined when it does not leave
 */
export function questionPage(question: Question, target: string | undefined): QuestionPage {
  const { heading, text, action, fields = {}, inputs = [], buttons } = question;
  const paragraphs = [text].flat().map((one) => `<p>${escaped(one)}</p>\n`);
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">\n`,
  );
  const presses = buttons?.map(
    ({ label, name, value }) =>
      `<button type="submit" name="${escaped(name)}" value="${escaped(value)}">${escaped(label)}</button>\n`,
  ) ?? ['<button type="submit">Continue</button>\n'];
  return {
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(heading)}</title>
</head>
<body>
<main>
<h1>${escaped(heading)}</h1>
${paragraphs.join('')}<form method="post" action="${escaped(action)}">
${hidden.join('')}${inputs.map(line).join('')}${presses.join('')}</form>
</main>
</body>
</html>
`,
    policy: `default-src 'none'; form-action 'self'${target === undefined ? '' : ` ${sourceOf(target)}`}; base-uri 'none'; frame-ancestors 'none'`,
  };
}

function line({ name, label, isSecret, autocomplete, value = '' }: Input): string {
  const attributes = Object.entries({
    type: isSecret ? 'password' : 'text',
    name,
    autocomplete,
    value,
  }).map(([key, given]) => `${key}="${escaped(given)}"`);
  return `<p><label>${escaped(label)} <input ${attributes.join(' ')}></label></p>\n`;
}

/** Headers of such a page; its address holds secrets. */
export function pageHeaders({ policy }: QuestionPage): Record<string, string> {
  return {
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** Browsers apply the policy of a form to the redirects that answer it as well. */
function sourceOf(target: string): string {
  const { protocol, origin } = new URL(target);
  // Of an application's own scheme there is no origin.
  return origin === 'null' ? protocol : origin;
}
