import type { Scene } from './forge.ts';

/**
 * All rows of tables, to see that a refusal changed nothing.
 * @param tables names, each perhaps with the columns that count: `repositories(id, pulls)`
 */
export function rowsOf({ sql }: Pick<Scene, 'sql'>, ...tables: readonly string[]): Promise<object[][]> {
  return Promise.all(
    tables.map((table) => {
      const [, name, columns = '*'] = /^(\w+)(?:\((.+)\))?$/.exec(table) ?? [];
      // A template whose text is not known before.
      const text = [`select ${columns} from :schema.${name} as t order by t::text`];
      return sql.rows(text as unknown as TemplateStringsArray);
    }),
  );
}
