import { quoteIdentifier, type Tx } from '@croft/sql';

/** Calls a function that takes JSON and gives JSON, and says what it gave. */
export type CallFunction = (tx: Tx, input: string) => Promise<unknown>;

/**
 * The call of a function whose name the operator chose. A name cannot be a value of a statement, so the text is made
 * once, with the names quoted. PostgreSQL takes the value for whatever the function takes, `jsonb` or `json`.
 */
export function functionCall({ schema, name }: { schema: string; name: string }): CallFunction {
  const parts = [`select to_jsonb(${quoteIdentifier(schema)}.${quoteIdentifier(name)}(`, ')) as answer'];
  const template: TemplateStringsArray = Object.assign(parts, { raw: parts });
  return async (tx, input) => {
    const row = await tx.row<{ answer: unknown }>(template, input);
    return row?.answer;
  };
}

/** Ends a statement of this transaction that takes longer; for poolers, which refuse that for a connection. */
export async function limitTime(tx: Tx, milliseconds: number): Promise<void> {
  await tx.row`select set_config('statement_timeout', ${String(milliseconds)}, true)`;
}
