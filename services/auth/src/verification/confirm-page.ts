/** A page that asks before a link is used up: what follows every link of a mail, such as scanners, presses no button. */
export interface ConfirmPage {
  html: string;
  /** Value of Content-Security-Policy: nothing but the form, and where it leads in the end. */
  policy: string;
}

/**
 * The page for a link.
 * @param link the parameters of GET /verify
 * @param target where the answer to the form redirects to
 */
export function confirmPage(link: URLSearchParams, target: string): ConfirmPage {
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
<h1>Confirm that it is you</h1>
<p>You followed a link from a mail. Press the button to go on.</p>
<form method="post" action="?${escaped(link.toString())}">
<button type="submit">Continue</button>
</form>
</main>
</body>
</html>
`,
    policy: `default-src 'none'; form-action 'self' ${sourceOf(target)}; base-uri 'none'; frame-ancestors 'none'`,
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
