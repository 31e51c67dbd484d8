const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/**
 * The values of a line in the text format of `COPY`: separated by tabs, null as `\N`, with escapes for what would end a
 * value or a line.
 */
export function readCopyLine(line: string): (string | null)[] {
  return line.split('\t').map((value) => (value === '\\N' ? null : unescape(value)));
}

function unescape(value: string): string {
  if (!value.includes('\\')) return value;
  return value.replace(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);
}

/** What follows in a dump: the rows of a table. */
export interface CopyHead {
  schema: string;
  table: string;
  columns: string[];
}

const NAME = '("(?:[^"]|"")+"|[a-z_][a-z0-9_$]*)';
const COPY = new RegExp(`^COPY ${NAME}\\.${NAME} \\((.*)\\) FROM stdin;$`);

/** The line before the rows; undefined for every other line. */
export function readCopyHead(line: string): CopyHead | undefined {
  const [, schema, table, columns] = COPY.exec(line) ?? [];
  if (schema === undefined || table === undefined || columns === undefined) return undefined;
  return {
    schema: unquote(schema),
    table: unquote(table),
    columns: columns.split(', ').map(unquote),
  };
}

function unquote(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}
