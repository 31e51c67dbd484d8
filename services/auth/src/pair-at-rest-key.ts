import { StartError } from '@croft/runtime';
import { findMark, insertMark, quoteIdentifier } from '@croft/sql';
import type { AuthContext } from './context.ts';

const KIND = 'at-rest key';

/**
 * Makes sure that what the tables hold was made with this very key: under another one no refresh token is known any more, no
 * authenticator app is right, and nobody is told why. What keeps secrets first writes down what the key is known again by.
 * @throws StartError when it is another one
 */
export async function pairAtRestKey(context: Pick<AuthContext, 'database' | 'atRest'>): Promise<void> {
  const { database } = context;
  const { schema } = database;
  const mark = markOf(context);
  const known =
    (await findMark(database.autocommit(), schema, KIND)) ??
    (await database.transaction((tx) => insertMark(tx, schema, KIND, mark)));
  if (known !== mark) throw new StartError(otherKey(schema));
}

/**
 * The same for tasks beside a service, which write nothing down.
 * @throws StartError when it is another one
 */
export async function checkAtRestKey(context: Pick<AuthContext, 'database' | 'atRest'>): Promise<void> {
  const { database } = context;
  const known = await findMark(database.autocommit(), database.schema, KIND);
  if (known !== undefined && known !== markOf(context)) throw new StartError(otherKey(database.schema));
}

const markOf = ({ atRest }: Pick<AuthContext, 'atRest'>) => atRest.stableId(KIND).toString('base64url');

const otherKey = (schema: string) =>
  `The tables of the schema "${schema}" were written with another at-rest key. Set CROFT_AT_REST_KEY to that one: it is in the secrets.json of the data folder that Croft had before, or that another process on this database has. With a new one everybody is signed out, and authenticator apps have to be added anew; if that is what you want, run: comment on table ${quoteIdentifier(schema)}.croft_migrations is null;`;
