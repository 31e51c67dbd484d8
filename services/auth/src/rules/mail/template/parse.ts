import { type Expression, parseExpression, splitAction, type Token } from './expression.ts';
import { TemplateError } from './template-error.ts';

/** A part of a template, in the order of its text. */
export type TemplateNode =
  | { type: 'text'; text: string }
  | { type: 'output'; value: Expression; line: number }
  | { type: 'assign'; name: string; value: Expression; declares: boolean; line: number }
  | BlockNode;

/** `if`, `with` or `range` with what lies between it and its `end`. */
export interface BlockNode {
  type: 'if' | 'with' | 'range';
  value: Expression;
  /** Variables the action declares: one for the value, two for key and value. */
  names: readonly string[];
  body: readonly TemplateNode[];
  otherwise: readonly TemplateNode[];
  line: number;
}

/** Blocks inside blocks, `else if` counted as one; far above what mails have and far below what a stack holds. */
const MAX_DEPTH = 100;

type Piece = { type: 'text'; text: string } | { type: 'action'; tokens: readonly Token[]; line: number };

/**
 * Reads a template in the language of Go's `text/template`, as far as mails use it: fields, `index`, `if`, `with`,
 * `range`, variables, comments, trimming, and the functions of `evaluate.ts`. Takes time linear in its length.
 * @throws TemplateError with the line of the first thing that is not understood
 */
export function parseTemplate(source: string): readonly TemplateNode[] {
  const pieces = splitTemplate(source);
  let next = 0;

  function parseBody(depth: number): { nodes: TemplateNode[]; closedBy: Piece | undefined } {
    const nodes: TemplateNode[] = [];
    for (;;) {
      const piece = pieces[next++];
      if (piece === undefined) return { nodes, closedBy: undefined };
      if (piece.type === 'text') {
        nodes.push(piece);
        continue;
      }
      const [first, ...rest] = piece.tokens;
      const word = first?.type === 'word' ? first.text : '';
      if (word === 'end' || word === 'else') return { nodes, closedBy: piece };
      if (word === 'if' || word === 'with' || word === 'range') {
        nodes.push(parseBlock(word, rest, piece.line, depth + 1));
      } else if (word === 'define' || word === 'template' || word === 'block') {
        throw new TemplateError(`{{ ${word} }} is not supported`, piece.line);
      } else {
        nodes.push(parseSimple(piece.tokens, piece.line));
      }
    }
  }

  function parseBlock(
    type: BlockNode['type'],
    head: readonly Token[],
    line: number,
    depth: number,
  ): BlockNode {
    if (depth > MAX_DEPTH) throw new TemplateError('too many blocks inside each other', line);
    const { names, rest } = declaredNames(head);
    if (names.length > (type === 'range' ? 2 : 1)) throw new TemplateError('too many variables', line);
    const value = parseExpression(rest, line);
    const { nodes: body, closedBy } = parseBody(depth);
    return { type, value, names, body, otherwise: parseElse(type, closedBy, line, depth), line };
  }

  function parseElse(
    type: string,
    closedBy: Piece | undefined,
    line: number,
    depth: number,
  ): readonly TemplateNode[] {
    if (closedBy?.type !== 'action') throw new TemplateError(`{{ ${type} }} has no {{ end }}`, line);
    const [first, second, ...rest] = closedBy.tokens;
    if (first?.text === 'end') {
      if (second !== undefined) throw new TemplateError('something follows {{ end', closedBy.line);
      return [];
    }
    if (second === undefined) {
      const { nodes, closedBy: end } = parseBody(depth);
      if (end?.type !== 'action' || end.tokens[0]?.text !== 'end') {
        throw new TemplateError('{{ else }} has no {{ end }}', closedBy.line);
      }
      return nodes;
    }
    if (second.text !== type || type === 'range') {
      throw new TemplateError('something follows {{ else', closedBy.line);
    }
    return [parseBlock(type as BlockNode['type'], rest, closedBy.line, depth + 1)];
  }

  const { nodes, closedBy } = parseBody(0);
  if (closedBy?.type === 'action') {
    throw new TemplateError(`{{ ${closedBy.tokens[0]?.text} }} closes nothing`, closedBy.line);
  }
  return nodes;
}

function parseSimple(tokens: readonly Token[], line: number): TemplateNode {
  const [first, second, ...rest] = tokens;
  if (first?.type === 'path' && (second?.text === ':=' || second?.text === '=')) {
    if (!isVariable(first)) throw new TemplateError('only variables can be set', line);
    const declares = second.text === ':=';
    return { type: 'assign', name: first.text, value: parseExpression(rest, line), declares, line };
  }
  return { type: 'output', value: parseExpression(tokens, line), line };
}

/** `$x :=` or `$i, $x :=` at the beginning of a block's action. */
function declaredNames(tokens: readonly Token[]): { names: string[]; rest: readonly Token[] } {
  const at = tokens.findIndex(({ text, type }) => type === 'mark' && text === ':=');
  if (at === -1) return { names: [], rest: tokens };
  const names = tokens
    .slice(0, at)
    .filter(isVariable)
    .map(({ text }) => text);
  return { names, rest: tokens.slice(at + 1) };
}

const isVariable = ({ type, text }: Token): boolean => type === 'path' && /^\$[^.]+$/.test(text);

function splitTemplate(source: string): Piece[] {
  const pieces: Piece[] = [];
  const lines = lineCounter(source);
  let trimNext = false;
  for (let at = 0; at < source.length; ) {
    const open = source.indexOf('{{', at);
    const end = open === -1 ? source.length : open;
    const trimsBefore = open !== -1 && source[open + 2] === '-' && isSpace(source[open + 3]);
    const text = trim(source.slice(at, end), trimNext, trimsBefore);
    if (text !== '') pieces.push({ type: 'text', text });
    if (open === -1) break;
    const line = lines(open);
    const action = splitAction(source, open + (trimsBefore ? 4 : 2), line);
    if (action.tokens.length > 0) pieces.push({ type: 'action', tokens: action.tokens, line });
    else if (!action.isComment) throw new TemplateError('an empty action', line);
    trimNext = action.trimsAfter;
    at = action.end;
  }
  return pieces;
}

/** The line of an offset; offsets must ascend, so that all of them together take one walk. */
function lineCounter(source: string): (offset: number) => number {
  let at = 0;
  let line = 1;
  return (offset) => {
    for (;;) {
      const found = source.indexOf('\n', at);
      if (found === -1 || found >= offset) return line;
      at = found + 1;
      line++;
    }
  };
}

const isSpace = (character: string | undefined): boolean =>
  character !== undefined && ' \t\r\n'.includes(character);

/** By hand: the pattern for trailing blanks would take quadratic time on a long run of them. */
function trim(text: string, start: boolean, end: boolean): string {
  let from = 0;
  let to = text.length;
  if (start) while (from < to && isSpace(text[from])) from++;
  if (end) while (to > from && isSpace(text[to - 1])) to--;
  return text.slice(from, to);
}
