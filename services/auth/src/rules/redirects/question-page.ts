/** A page that asks before something is done: whatever follows links by itself presses no button. */
export interface QuestionPage {
  html: string;
  /** Value of Content-Security-Policy: nothing but the form, and where it leads in the end. */
  policy: string;
}

/** What is asked, and the form that is the answer. */
export interface Question {
  heading: string;
  text: string;
  /** Where the form goes; relative to the page. */
  action: string;
  /** What it carries. */
  fields?: Readonly<Record<string, string>>;
}

/**
 * The page for a question.
 * @param target where the answer to the form redirects to
 */
export function questionPage({ heading, text, action, fields = {} }: Question, target: string): QuestionPage {
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">\n`,
  );
  return {
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Confirm</title>
</head>
<body>
<main>
<h1>${escaped(heading)}</h1>
<p>${escaped(text)}</p>
<form method="post" action="${escaped(action)}">
${hidden.join('')}<button type="submit">Continue</button>
</form>
</main>
</body>
</html>
`,
    policy: `default-src 'none'; form-action 'self' ${sourceOf(target)}; base-uri 'none'; frame-ancestors 'none'`,
  };
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
