import type { Expression } from './expression.ts';
import { isTrue, member, templateFunctions, textOf } from './functions.ts';
import type { BlockNode, TemplateNode } from './parse.ts';
import { TemplateError } from './template-error.ts';

/** Where a template writes to: its own text as it is, values as the place demands. */
export interface TemplateOutput {
  literal(text: string): void;
  value(text: string): void;
}

/** Nodes and calls one mail may take; a loop in a loop over what a user stored would multiply otherwise. */
const MAX_STEPS = 100_000;
/** Characters of values and text together. */
const MAX_OUTPUT = 2_000_000;

type Scope = Map<string, unknown>;

/**
 * Writes a template with its variables. Missing fields are empty, and no function fails, so what a user stored can
 * never make a template of the operator's fall back to another.
 * @throws TemplateError when it takes too long, or when a value stands where none may
 */
export function evaluate(
  nodes: readonly TemplateNode[],
  variables: Readonly<Record<string, unknown>>,
  output: TemplateOutput,
): void {
  let steps = 0;
  let written = 0;
  const scopes: Scope[] = [new Map()];

  function spend(cost: number): void {
    steps += 1 + cost;
    if (steps > MAX_STEPS) throw new TemplateError('the template takes too many steps');
  }

  function count(text: string): string {
    written += text.length;
    if (written > MAX_OUTPUT) throw new TemplateError('the mail becomes too long');
    return text;
  }

  function run(list: readonly TemplateNode[], dot: unknown): void {
    for (const node of list) {
      spend(0);
      switch (node.type) {
        case 'text':
          output.literal(count(node.text));
          break;
        case 'output':
          writeValue(node.value, dot, node.line);
          break;
        case 'assign':
          scopeFor(node.name, node.declares, node.line).set(node.name, valueOf(node.value, dot));
          break;
        case 'if':
        case 'with':
        case 'range':
          runBlock(node, dot);
      }
    }
  }

  function writeValue(expression: Expression, dot: unknown, line: number): void {
    const text = count(textOf(valueOf(expression, dot)));
    try {
      output.value(text);
    } catch (error) {
      throw error instanceof TemplateError ? new TemplateError(error.message, line) : error;
    }
  }

  function runBlock(node: BlockNode, dot: unknown): void {
    const value = valueOf(node.value, dot);
    if (node.type === 'range') return runRange(node, value, dot);
    const declared: Scope = new Map(node.names.map((name) => [name, value]));
    const inner = node.type === 'with' ? value : dot;
    if (isTrue(value)) inScope(declared, () => run(node.body, inner));
    else inScope(declared, () => run(node.otherwise, dot));
  }

  function runRange({ names, body, otherwise }: BlockNode, value: unknown, dot: unknown): void {
    const entries = entriesOf(value);
    spend(entries.length);
    if (entries.length === 0) return inScope(new Map(), () => run(otherwise, dot));
    for (const [key, item] of entries) {
      const values = names.length === 2 ? [key, item] : [item];
      inScope(new Map(names.map((name, at) => [name, values[at]])), () => run(body, item));
    }
  }

  function inScope(scope: Scope, work: () => void): void {
    scopes.push(scope);
    work();
    scopes.pop();
  }

  function scopeFor(name: string, declares: boolean, line: number): Scope {
    const scope = declares ? scopes.at(-1) : scopes.findLast((one) => one.has(name));
    if (scope === undefined) throw new TemplateError(`there is no variable ${name}`, line);
    return scope;
  }

  function valueOf(expression: Expression, dot: unknown): unknown {
    switch (expression.type) {
      case 'literal':
        return expression.value;
      case 'path':
        return expression.names.reduce(member, baseOf(expression.base, dot));
      case 'member':
        return expression.names.reduce(member, valueOf(expression.of, dot));
      case 'call':
        spend(0);
        return call(expression.name, expression.args, dot);
    }
  }

  function baseOf(base: string, dot: unknown): unknown {
    if (base === '.') return dot;
    if (base === '$') return variables;
    const scope = scopes.findLast((one) => one.has(base));
    if (scope === undefined) throw new TemplateError(`there is no variable ${base}`);
    return scope.get(base);
  }

  function call(name: string, args: readonly Expression[], dot: unknown): unknown {
    if (name === 'and' || name === 'or') {
      let value: unknown;
      for (const arg of args) {
        value = valueOf(arg, dot);
        if (isTrue(value) === (name === 'or')) return value;
      }
      return value;
    }
    const result = templateFunctions[name]?.(...args.map((arg) => valueOf(arg, dot)));
    // Building a long text over and over is work as well.
    if (typeof result === 'string') spend(result.length >> 6);
    return result;
  }

  run(nodes, variables);
}

/** The members of a list or, in the order of their names, of an object; nothing else can be walked. */
function entriesOf(value: unknown): readonly (readonly [unknown, unknown])[] {
  if (Array.isArray(value)) return value.map((item, at) => [at, item]);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).sort(([first], [second]) => (first < second ? -1 : 1));
}
