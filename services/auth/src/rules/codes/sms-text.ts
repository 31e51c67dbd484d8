/** An action of a template, in Go's spelling. */
const ACTION = /\{\{([^{}]*)\}\}/;

/** The text of a message with a code: `{{ .Code }}` stands for it, and there is nothing else to stand for anything. */
export function writeSms(template: string, code: string): string {
  let text = '';
  let cutsBlanks = false;
  // With a group in the pattern, texts and actions take turns.
  template.split(ACTION).forEach((part, index) => {
    if (index % 2 === 0) {
      text += cutsBlanks ? part.trimStart() : part;
      return;
    }
    // A dash next to a brace cuts the blanks on that side off, as in Go.
    if (part.startsWith('- ')) text = text.trimEnd();
    cutsBlanks = part.endsWith(' -');
    text += code;
  });
  return text;
}

/** What is wrong with a template, or undefined. */
export function problemOfSmsTemplate(template: string): string | undefined {
  const parts = template.split(ACTION);
  if (parts.some((part, index) => index % 2 === 0 && part.includes('{{'))) return 'a {{ is never closed';
  const names = parts.filter((_, index) => index % 2 === 1).map(nameIn);
  const unknown = names.find((name) => name !== '.Code');
  if (unknown !== undefined) return `{{ ${unknown} }} means nothing in it; only {{ .Code }} does`;
  return names.length === 0 ? 'it does not contain {{ .Code }}' : undefined;
}

function nameIn(action: string): string {
  const from = action.startsWith('- ') ? 2 : 0;
  return action.slice(from, action.endsWith(' -') ? -2 : undefined).trim();
}
