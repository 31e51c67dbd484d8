import { createHash } from 'node:crypto';

/** A statement as the server sees it: `$n` in place of values, and a name under which it stays prepared. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A piece of a statement with the values in it: what several statements have in common. See `fragment`. */
export class Fragment {
  readonly #strings: TemplateStringsArray;
  readonly #values: readonly unknown[];
  constructor(strings: TemplateStringsArray, values: readonly unknown[]) {
    this.#strings = strings;
    this.#values = values;
  }
  /** Adds its text and its values to those of the statement it stands in. */
  writeTo(text: string, values: unknown[]): string {
    return write(text, this.#strings, this.#values, values);
  }
}

/**
 * A piece of SQL to stand where a value could in a statement or in another piece. It comes from code alone, as statements
 * do: a value in it stays a value, and nothing else is taken for a fragment.
 */
export function fragment(strings: TemplateStringsArray, ...values: unknown[]): Fragment {
  return new Fragment(strings, values);
}

/** A statement with the values of one run of it, in the order of their `$n`. */
export interface Compiled {
  statement: Statement;
  values: unknown[];
}

/**
 * Compiles tagged templates to statements, once for each place in the code: the template object of a call site is
 * the key, or with fragments in it the text they make together. `:schema` in the text stands for the schema of the service.
 */
export function statementCompiler(
  schema: string,
): (strings: TemplateStringsArray, values: unknown[]) => Compiled {
  const bySite = new WeakMap<TemplateStringsArray, Statement>();
  const byText = new Map<string, Statement>();
  const quoted = quoteIdentifier(schema);
  const name = (written: string): Statement => {
    const text = written.replaceAll(':schema', quoted);
    return { name: createHash('sha1').update(text).digest('base64url'), text };
  };
  return (strings, values) => {
    if (!values.some((value) => value instanceof Fragment)) {
      let statement = bySite.get(strings);
      if (statement === undefined) {
        statement = name(write('', strings, values, []));
        bySite.set(strings, statement);
      }
      return { statement, values };
    }
    const flat: unknown[] = [];
    const text = write('', strings, values, flat);
    let statement = byText.get(text);
    if (statement === undefined) {
      statement = name(text);
      byText.set(text, statement);
    }
    return { statement, values: flat };
  };
}

/** @param into receives the values; as many as there are already are numbered before these */
function write(
  before: string,
  strings: readonly string[],
  values: readonly unknown[],
  into: unknown[],
): string {
  let text = before + strings[0];
  for (const [index, value] of values.entries()) {
    text = value instanceof Fragment ? value.writeTo(text, into) : `${text}$${into.push(value)}`;
    text += strings[index + 1];
  }
  return text;
}

/** A name in double quotes, as PostgreSQL wants it where it would otherwise fold or refuse it. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
