/** What the value of an attribute is. */
type AttributeKind = 'text' | 'url' | 'style' | 'code';

/** What an attribute holds already, should it be a URL. */
interface UrlSoFar {
  /** Its beginning, up to the character that settles whether there is a scheme. */
  start: string;
  isSettled: boolean;
  /** A value was part of the beginning. */
  startHasValue: boolean;
  hasQuery: boolean;
}

/** Stands where a value would have been dangerous; the word Go's templates use, so that a search finds it explained. */
const REFUSED = 'ZgotmplZ';

const URL_ATTRIBUTES = new Set(
  'action archive background cite classid codebase data formaction href icon longdesc manifest ping poster profile src usemap'.split(
    ' ',
  ),
);

/** Attributes with a language of their own, none of which a mail needs values in. */
const CODE_ATTRIBUTES = new Set(['srcset', 'imagesrcset', 'srcdoc']);

/** Decides by the name alone, as mails with namespaces (`xlink:href`, `v:src`) need it. */
export function attributeKind(name: string): AttributeKind {
  const local = name.slice(name.lastIndexOf(':') + 1).replace(/^data-/, '');
  if (local.startsWith('on') || CODE_ATTRIBUTES.has(local)) return 'code';
  if (local === 'style') return 'style';
  return URL_ATTRIBUTES.has(local) || /src|ur[il]/.test(local) ? 'url' : 'text';
}

const ENTITIES: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

/** For text and for attributes in quotes of either kind. */
export function escapeHtml(text: string): string {
  return text.replace(/[\0&<>"']/g, (character) => ENTITIES[character] as string);
}

/** For an attribute without quotes, which an empty value would fuse with what follows. */
export function unquotedValue(text: string): string {
  if (text === '') return REFUSED;
  return escapeHtml(text).replace(/[\t\n\f\r =`+]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** For a style: words, numbers, colours and lengths; nothing that could begin a rule, a function or a URL. */
export function cssValue(text: string): string {
  const isPlain = /^[\p{L}\p{N} #%,.!_+-]*$/u.test(text) && !text.includes('--');
  return isPlain && !/expression|mozbinding/i.test(text) ? text : REFUSED;
}

/** No scheme is longer; what has not settled by then is none. */
const START_LIMIT = 100;

/** The state at the beginning of an attribute. */
export function newUrl(): UrlSoFar {
  return { start: '', isSettled: false, startHasValue: false, hasQuery: false };
}

/** Takes note of what was written into the attribute. */
export function noteInUrl(url: UrlSoFar, text: string, isValue: boolean): void {
  url.hasQuery ||= /[?#]/.test(text);
  if (url.isSettled) return;
  url.startHasValue ||= isValue;
  url.start = (url.start + text).trimStart().slice(0, START_LIMIT);
  url.isSettled = url.start.length === START_LIMIT || /[:/?#]/.test(url.start);
}

/**
 * For a URL: percent-encoded whole after a `?` or `#`, else as far as needed. Only http, https and mailto may come
 * from values; a scheme the template itself spells out is the operator's, unless it would run or hold code.
 */
export function urlValue(text: string, soFar: UrlSoFar): string {
  const isOwnScheme = soFar.isSettled && !soFar.startHasValue;
  const scheme = schemeOf(soFar.isSettled ? soFar.start : soFar.start + text);
  if (isOwnScheme ? runsOrHoldsCode(scheme) : !isHarmless(scheme)) return `#${REFUSED}`;
  const encoded = encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return soFar.hasQuery ? encoded : encoded.replace(KEPT_IN_URL, decodeKept);
}

/** What has a meaning in a URL stays, and what is encoded already is not encoded twice. */
const KEPT_IN_URL = /%25(?=[0-9A-Fa-f]{2})|%(?:21|23|24|26|2A|2B|2C|2F|3A|3B|3D|3F|40|5B|5D)/g;

function decodeKept(encoded: string): string {
  return decodeURIComponent(encoded);
}

function schemeOf(url: string): string | undefined {
  const end = url.search(/[:/?#]/);
  return end === -1 || url[end] !== ':' ? undefined : url.slice(0, end).toLowerCase();
}

function runsOrHoldsCode(scheme: string | undefined): boolean {
  return scheme === 'javascript' || scheme === 'vbscript' || scheme === 'data';
}

function isHarmless(scheme: string | undefined): boolean {
  return scheme === undefined || scheme === 'http' || scheme === 'https' || scheme === 'mailto';
}
