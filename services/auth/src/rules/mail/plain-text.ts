/** Elements that begin a line of their own. */
const BLOCKS = new Set(
  'address article blockquote body center dd div dl dt footer form header hr li main nav ol pre section table tr ul'.split(
    ' ',
  ),
);
/** Blocks with an empty line around them. */
const PARAGRAPHS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
/** Elements whose content nobody reads. */
const HIDDEN = new Set(['head', 'script', 'style', 'title', 'template']);

/** The entities mails are written with; others stay as they are. */
const NAMED = new Map(
  'amp=& lt=< gt=> quot=" apos=\' copy=© reg=® trade=™ hellip=… ndash=– mdash=— lsquo=‘ rsquo=’ ldquo=“ rdquo=” bull=• middot=· rarr=→ larr=← euro=€ zwnj= shy='
    .split(' ')
    .map((pair): [string, string] => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
).set('nbsp', ' ');

/** What is neither text nor a tag: `<!DOCTYPE`, `<?xml`, `</>`. */
const DECLARATION = /<(?:[!?]|\/[^A-Za-z])/y;
const TAG = /<(\/?)([A-Za-z][^\s/>]*)/y;
/** One attribute after another, so that one is never found inside the value of another. */
const ATTRIBUTE = /([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;
/**
 * What HTML says, as text: a line for each block, and for each link its words followed by the address on a line of
 * its own, so that both a person and a mail program find where it ends.
 */
export function plainTextOf(html: string): string {
  const page = textPage();
  let hidden: string | undefined;
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    const end = open === -1 ? html.length : open;
    if (end > at && hidden === undefined) page.write(decodeEntities(html.slice(at, end)));
    if (open === -1) break;
    const found = markupAt(html, open);
    if (found === undefined && hidden === undefined) page.write('<');
    at = found?.end ?? open + 1;
    if (found?.name === undefined) continue;
    const { name, isEnd = false, attributes = '' } = found;
    if (hidden !== undefined) hidden = isEnd && name === hidden ? undefined : hidden;
    else if (HIDDEN.has(name)) hidden = isEnd ? undefined : name;
    else if (name === 'a' && isEnd) page.endLink();
    else if (name === 'a') page.beginLink(hrefOf(attributes));
    else if (name === 'br') page.breakLine();
    else if (PARAGRAPHS.has(name)) page.separate();
    else if (BLOCKS.has(name)) page.endLine();
    else if (name === 'td' || name === 'th') page.write(' ');
  }
  return page.result();
}

/** Lines of text that are filled from left to right; blanks are folded as browsers fold them. */
function textPage() {
  const lines: string[] = [];
  let words: string[] = [];
  let hasText = false;
  let endsInBlank = true;
  /** Addresses of open links, and where their words begin. */
  const links: { href: string | undefined; from: number }[] = [];

  function write(text: string): void {
    const folded = text.replace(/[ \t\r\n\f]+/g, ' ');
    const added = endsInBlank ? folded.replace(/^ /, '') : folded;
    if (added === '') return;
    words.push(added);
    endsInBlank = added.endsWith(' ');
    hasText ||= added !== ' ';
  }

  function endLine(): void {
    if (hasText) lines.push(words.join('').trim());
    [words, hasText, endsInBlank] = [[], false, true];
    for (const link of links) link.from = 0;
  }

  function emptyLine(): void {
    if (lines.length > 0 && lines.at(-1) !== '') lines.push('');
  }

  return {
    write,
    endLine,
    breakLine: () => (hasText ? endLine() : emptyLine()),
    separate(): void {
      endLine();
      emptyLine();
    },
    beginLink: (href: string | undefined) => void links.push({ href, from: words.length }),
    endLink(): void {
      const { href, from } = links.pop() ?? {};
      if (href === undefined || !/^(?:https?|mailto):/i.test(href)) return;
      const address = href.replace(/^mailto:/i, '');
      const shown = words
        .splice(from ?? 0)
        .join('')
        .trim();
      if (shown !== address) words.push(shown === '' ? '' : `${shown}:`);
      hasText = words.some((one) => one.trim() !== '');
      endLine();
      lines.push(address);
    },
    result(): string {
      endLine();
      return `${lines.join('\n').trim()}\n`;
    },
  };
}

interface Markup {
  end: number;
  name?: string;
  isEnd?: boolean;
  attributes?: string;
}

/** As browsers do, what is opened and never closed is taken to be open until the end. */
function markupAt(html: string, open: number): Markup | undefined {
  if (html.startsWith('<!--', open)) {
    const close = html.indexOf('-->', open + 4);
    return { end: close === -1 ? html.length : close + 3 };
  }
  DECLARATION.lastIndex = open;
  if (DECLARATION.test(html)) return { end: html.indexOf('>', open) + 1 || html.length };
  TAG.lastIndex = open;
  const [, slash, name] = TAG.exec(html) ?? [];
  if (name === undefined) return undefined;
  const begin = TAG.lastIndex;
  const end = endOfTag(html, begin);
  const attributes = html.slice(begin, end);
  return { end: end + 1, name: name.toLowerCase(), isEnd: slash === '/', attributes };
}

/** Where the `>` is that ends a tag; the one in a quoted value does not. */
function endOfTag(html: string, from: number): number {
  for (let at = from; at < html.length; at++) {
    if (html[at] === '>') return at;
    if (html[at] !== '=') continue;
    while (/[ \t\r\n\f]/.test(html[at + 1] ?? '')) at++;
    const quote = html[at + 1];
    if (quote !== '"' && quote !== "'") continue;
    at = html.indexOf(quote, at + 2);
    if (at === -1) break;
  }
  return html.length;
}

function hrefOf(attributes: string): string | undefined {
  for (const [, name = '', double, single, bare] of attributes.matchAll(ATTRIBUTE)) {
    if (name.toLowerCase() !== 'href') continue;
    return decodeEntities(double ?? single ?? bare ?? '').trim();
  }
  return undefined;
}

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z]{2,8}));/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return NAMED.get(name) ?? whole;
      const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return point > 31 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff)
        ? String.fromCodePoint(point)
        : ' ';
    },
  );
}
