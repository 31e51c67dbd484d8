import { functionNames } from './functions.ts';
import { TemplateError } from './template-error.ts';

/** What stands in an action. */
export type Expression =
  | { type: 'literal'; value: unknown }
  /** `base` is `.`, `$` or the name of a variable with its `$`. */
  | { type: 'path'; base: string; names: readonly string[] }
  | { type: 'member'; of: Expression; names: readonly string[] }
  | { type: 'call'; name: string; args: readonly Expression[] };

/** A word, a mark, or a literal of an action. */
export interface Token {
  type: 'word' | 'path' | 'text' | 'number' | 'mark';
  text: string;
  /** Nothing lies between it and the token before. */
  touches: boolean;
}

/** An action longer than this is none: a missing `}}` must not swallow a whole mail. */
const MAX_ACTION = 4_096;
const MAX_PARENTHESES = 20;

/** Each alternative is sticky and decides by its first character, so reading never goes back. */
const TOKEN =
  /(?<space>[ \t\r\n]+)|(?<text>"(?:[^"\\\n]|\\.)*"|`[^`]*`)|(?<number>-?\d+(?:\.\d+)?)|(?<path>\$[\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*|(?:\.[\p{L}_][\p{L}\p{N}_]*)+|\.)|(?<word>[\p{L}_][\p{L}\p{N}_]*)|(?<mark>:=|[=(),|])/uy;

const COMMENT = /[ \t\r\n]*\/\*/y;
const COMMENT_END = /(?:([ \t\r\n]+-)|[ \t\r\n]*)\}\}/y;

/** The tokens of the action whose inside begins at `start`, and where it ends. */
export function splitAction(
  source: string,
  start: number,
  line: number,
): { tokens: Token[]; end: number; trimsAfter: boolean; isComment: boolean } {
  COMMENT.lastIndex = start;
  if (COMMENT.test(source)) return skipComment(source, COMMENT.lastIndex, line);
  const tokens: Token[] = [];
  let followsSpace = false;
  for (let at = start; at - start <= MAX_ACTION; ) {
    if (source.startsWith('}}', at)) return { tokens, end: at + 2, trimsAfter: false, isComment: false };
    if (followsSpace && source.startsWith('-}}', at)) {
      return { tokens, end: at + 3, trimsAfter: true, isComment: false };
    }
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(source)?.groups;
    if (groups === undefined) break;
    for (const type of ['text', 'number', 'path', 'word', 'mark'] as const) {
      const text = groups[type];
      if (text !== undefined) tokens.push({ type, text, touches: tokens.length > 0 && !followsSpace });
    }
    followsSpace = groups['space'] !== undefined;
    at = TOKEN.lastIndex;
  }
  throw new TemplateError('an action that is not understood', line);
}

function skipComment(source: string, from: number, line: number) {
  const close = source.indexOf('*/', from);
  COMMENT_END.lastIndex = close + 2;
  const end = close === -1 ? null : COMMENT_END.exec(source);
  if (end === null) throw new TemplateError('a comment without an end', line);
  return { tokens: [], end: COMMENT_END.lastIndex, trimsAfter: end[1] !== undefined, isComment: true };
}

/**
 * Reads a pipeline: `a b | c d` is `c d (a b)`.
 * @throws TemplateError
 */
export function parseExpression(tokens: readonly Token[], line: number): Expression {
  let next = 0;

  function parsePipeline(depth: number): Expression {
    let piped: Expression | undefined;
    for (;;) {
      piped = parseCommand(piped, depth);
      if (tokens[next]?.text !== '|' || tokens[next]?.type !== 'mark') return piped;
      next++;
    }
  }

  function parseCommand(piped: Expression | undefined, depth: number): Expression {
    const first = tokens[next];
    const given = piped === undefined ? [] : [piped];
    if (first?.type === 'word' && functionNames.has(first.text)) {
      next++;
      const args: Expression[] = [];
      while (startsOperand(tokens[next])) args.push(parseOperand(depth));
      return { type: 'call', name: first.text, args: [...args, ...given] };
    }
    const operand = parseOperand(depth);
    if (piped !== undefined || startsOperand(tokens[next])) {
      throw new TemplateError('only a function takes arguments', line);
    }
    return operand;
  }

  function parseOperand(depth: number): Expression {
    const token = tokens[next++];
    if (token === undefined) throw new TemplateError('an action ends too early', line);
    switch (token.type) {
      case 'text':
        return { type: 'literal', value: readText(token.text, line) };
      case 'number':
        return { type: 'literal', value: Number(token.text) };
      case 'path': {
        const [base = '', ...names] = token.text.split('.');
        return { type: 'path', base: base === '' ? '.' : base, names: names.filter((name) => name !== '') };
      }
      case 'word':
        return readWord(token.text, line);
      case 'mark':
        if (token.text === '(') return parseParenthesis(depth + 1);
        throw new TemplateError(`${token.text} where a value is expected`, line);
    }
  }

  function parseParenthesis(depth: number): Expression {
    if (depth > MAX_PARENTHESES) throw new TemplateError('too many parentheses', line);
    const inner = parsePipeline(depth);
    if (tokens[next++]?.text !== ')') throw new TemplateError('a parenthesis is not closed', line);
    const after = tokens[next];
    if (after?.type !== 'path' || !after.touches || !/^\../.test(after.text)) return inner;
    next++;
    return { type: 'member', of: inner, names: after.text.slice(1).split('.') };
  }

  const expression = parsePipeline(0);
  if (next < tokens.length) throw new TemplateError(`${tokens[next]?.text} is not expected`, line);
  return expression;
}

function startsOperand(token: Token | undefined): boolean {
  return token !== undefined && (token.type !== 'mark' || token.text === '(');
}

function readWord(word: string, line: number): Expression {
  if (word === 'true' || word === 'false') return { type: 'literal', value: word === 'true' };
  if (word === 'nil') return { type: 'literal', value: undefined };
  if (functionNames.has(word)) return { type: 'call', name: word, args: [] };
  throw new TemplateError(`there is no function ${word}`, line);
}

function readText(quoted: string, line: number): string {
  if (quoted.startsWith('`')) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted);
  } catch {
    throw new TemplateError('a text with an unknown escape', line);
  }
}
