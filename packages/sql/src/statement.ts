import { createHash } from 'node:crypto';

/** A statement as the server sees it: `$n` in place of values, and a name under which it stays prepared. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * Compiles tagged templates to statements, once for each place in the code: the template object of a call site is
 * the key. `:schema` in the text stands for the schema of the service.
 */
export function statementCompiler(schema: string): (strings: TemplateStringsArray) => Statement {
  const compiled = new WeakMap<TemplateStringsArray, Statement>();
  const quoted = quoteIdentifier(schema);
  return (strings) => {
    let statement = compiled.get(strings);
    if (statement === undefined) {
      const text = strings
        .reduce((sofar, part, index) => `${sofar}$${index}${part}`)
        .replaceAll(':schema', quoted);
      statement = { name: createHash('sha1').update(text).digest('base64url'), text };
      compiled.set(strings, statement);
    }
    return statement;
  };
}

/** A name in double quotes, as PostgreSQL wants it where it would otherwise fold or refuse it. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
