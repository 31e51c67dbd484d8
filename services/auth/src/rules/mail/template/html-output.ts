import type { TemplateOutput } from './evaluate.ts';
import {
  attributeKind,
  cssValue,
  escapeHtml,
  newUrl,
  noteInUrl,
  unquotedValue,
  urlValue,
} from './html-values.ts';
import { TemplateError } from './template-error.ts';

type State =
  | 'text'
  | 'tag open'
  | 'end tag open'
  | 'tag name'
  | 'in tag'
  | 'attribute name'
  | 'after attribute name'
  | 'before value'
  | 'double'
  | 'single'
  | 'unquoted'
  | 'after value'
  | 'declaration'
  | 'bogus'
  | 'comment'
  | 'raw';

/** Elements whose content is no markup. Values go into the last two only, as text. */
const RAW_ELEMENTS = new Set(['script', 'style', 'title', 'textarea']);

/** Names are compared with short ones only. */
const NAME_LIMIT = 40;

/** HTML that is being written, and what has been written so far. */
interface HtmlOutput extends TemplateOutput {
  /** @throws TemplateError when the HTML ends inside a tag or a comment */
  result(): string;
}

/**
 * Follows the template's own HTML with the states of the HTML standard's tokenizer, and so knows of every value what
 * it is about to become: text, an attribute, a URL or a style. It is escaped for that place; where no escaping makes
 * a value safe (a script, an event handler, the name of a tag) the template is refused. Values cannot change the
 * state, and states are followed while the mail is written, so branches need not agree.
 */
export function htmlOutput(): HtmlOutput {
  const parts: string[] = [];
  let state: State = 'text';
  /** The element whose tag is being read, or whose raw content is. */
  let element = '';
  let isEndTag = false;
  let attribute = '';
  /** The last characters, as far as the end of a comment or of raw content can be seen in them. */
  let tail = '';
  let url = newUrl();

  function literal(text: string): void {
    parts.push(text);
    for (let at = 0; at < text.length; ) at = skip(text, at) ?? (step(text[at] as string), at + 1);
  }

  /** Jumps over characters that mean nothing where they stand; most of a mail is such. */
  function skip(text: string, at: number): number | undefined {
    if (state === 'text' && text[at] !== '<') {
      const next = text.indexOf('<', at);
      return next === -1 ? text.length : next;
    }
    return undefined;
  }

  function step(character: string): void {
    switch (state) {
      case 'text':
        if (character === '<') state = 'tag open';
        return;
      case 'tag open':
        return openTag(character);
      case 'end tag open':
        if (character === '>') state = 'text';
        else if (isLetter(character)) beginTag(character, true);
        else state = 'bogus';
        return;
      case 'tag name':
        if (isBlank(character) || character === '/') state = 'in tag';
        else if (character === '>') endTag();
        else element = longer(element, character);
        return;
      case 'in tag':
      case 'after value':
        if (isBlank(character) || character === '/') state = 'in tag';
        else if (character === '>') endTag();
        else beginAttribute(character);
        return;
      case 'attribute name':
        if (isBlank(character)) state = 'after attribute name';
        else if (character === '=') state = 'before value';
        else if (character === '/') state = 'in tag';
        else if (character === '>') endTag();
        else attribute = longer(attribute, character);
        return;
      case 'after attribute name':
        if (isBlank(character)) return;
        if (character === '=') state = 'before value';
        else if (character === '/') state = 'in tag';
        else if (character === '>') endTag();
        else beginAttribute(character);
        return;
      case 'before value':
        return beginValue(character);
      case 'double':
      case 'single':
        if (character === (state === 'double' ? '"' : "'")) state = 'after value';
        else noteInUrl(url, character, false);
        return;
      case 'unquoted':
        if (isBlank(character)) state = 'in tag';
        else if (character === '>') endTag();
        else noteInUrl(url, character, false);
        return;
      case 'declaration':
        return declare(character);
      case 'bogus':
        if (character === '>') state = 'text';
        return;
      case 'comment':
        tail = (tail + character).slice(-4);
        if (tail.endsWith('-->') || tail.endsWith('--!>')) state = 'text';
        return;
      case 'raw':
        return followRaw(character);
    }
  }

  function openTag(character: string): void {
    if (isLetter(character)) beginTag(character, false);
    else if (character === '/') state = 'end tag open';
    else if (character === '!') [state, tail] = ['declaration', ''];
    else if (character === '?') state = 'bogus';
    else if (character !== '<') state = 'text';
  }

  function beginTag(character: string, ends: boolean): void {
    state = 'tag name';
    element = character.toLowerCase();
    isEndTag = ends;
  }

  function endTag(): void {
    state = !isEndTag && RAW_ELEMENTS.has(element) ? 'raw' : 'text';
    tail = '';
  }

  function beginAttribute(character: string): void {
    state = 'attribute name';
    attribute = character.toLowerCase();
  }

  function beginValue(character: string): void {
    if (isBlank(character)) return;
    url = newUrl();
    if (character === '>') return endTag();
    if (character === '"') state = 'double';
    else if (character === "'") state = 'single';
    else {
      state = 'unquoted';
      noteInUrl(url, character, false);
    }
  }

  /**
   * After `<!`. The conditional comments Outlook reads are markup for it and a comment for others: what stands in
   * them is followed as markup, and no value can end them, because `>` is always escaped.
   */
  function declare(character: string): void {
    tail = (tail + character).slice(0, 5);
    if (tail === '-->' || tail === '--->') state = 'text';
    else if (tail === '--[if') state = 'bogus';
    else if (tail === '---' || '--[if'.startsWith(tail)) return;
    else if (tail.startsWith('--')) state = 'comment';
    else state = character === '>' ? 'text' : 'bogus';
  }

  function followRaw(character: string): void {
    tail = (tail + character.toLowerCase()).slice(-(element.length + 3));
    // A script that opens a comment ends by other rules; nothing after it can be told apart any more.
    if (element === 'script' && tail.endsWith('<!--')) element = 'script that goes on';
    if (!/[\s/>]$/.test(character) || !tail.slice(0, -1).endsWith(`</${element}`)) return;
    isEndTag = true;
    state = 'in tag';
    if (character === '>') endTag();
  }

  function value(text: string): void {
    if (state === 'text') parts.push(escapeHtml(text));
    else if (state === 'double' || state === 'single') parts.push(escapeHtml(attributeValue(text)));
    else if (state === 'unquoted') parts.push(unquotedValue(attributeValue(text)));
    else if (state === 'before value') {
      url = newUrl();
      state = 'unquoted';
      parts.push(unquotedValue(attributeValue(text)));
    } else if (state === 'raw') parts.push(rawValue(text));
    else if (state !== 'comment') {
      // In a comment a value is left out: nobody sees it there, and whoever reads one reads it by rules of his own.
      throw new TemplateError('a value stands where the name of a tag or attribute is expected');
    }
  }

  function rawValue(text: string): string {
    if (element === 'style') return cssValue(text);
    if (element === 'title' || element === 'textarea') return escapeHtml(text);
    throw new TemplateError('a value stands in a script');
  }

  function attributeValue(text: string): string {
    switch (attributeKind(attribute)) {
      case 'url': {
        const written = urlValue(text, url);
        noteInUrl(url, written, true);
        return written;
      }
      case 'style':
        return cssValue(text);
      case 'text':
        return text;
      case 'code':
        throw new TemplateError(`a value stands in the attribute ${attribute}`);
    }
  }

  return {
    literal,
    value,
    result() {
      if (state !== 'text' && state !== 'tag open') {
        throw new TemplateError('the template ends inside a tag, a comment or an element without markup');
      }
      return parts.join('');
    },
  };
}

const isLetter = (character: string): boolean => /^[A-Za-z]$/.test(character);
const isBlank = (character: string): boolean => ' \t\n\f\r'.includes(character);
const longer = (name: string, character: string): string =>
  name.length < NAME_LIMIT ? name + character.toLowerCase() : name;
