import pg from 'pg';
import { CONNECTIONS, client, perSecond, signUp, startService, statementOf } from './auth/service.ts';
import { type Figure, median } from './figure.ts';

const CONCURRENCY = 50;
const ROUNDS = 3;
const ROUND_MS = 1_000;
const WARM_UP_MS = 1_200;

/**
 * GET /user over HTTP, 50 at a time, against the very statement it runs, on the bare driver with as many connections:
 * what HTTP, the check of the token and JSON add to the database.
 */
export async function* figures(): AsyncGenerator<Figure> {
  await using server = await startService();
  const clients = await Promise.all(Array.from({ length: CONCURRENCY }, () => client(server.address)));
  const sessions = await Promise.all(clients.map((by, worker) => signUp(by, `http-${worker}`)));
  const overHttp = async (worker: number): Promise<void> => {
    await clients[worker]?.send('GET', '/user', undefined, sessions[worker]?.access_token);
  };

  const pool = new pg.Pool({ connectionString: server.databaseUrl, max: CONNECTIONS });
  let model: Ids | undefined;
  const statement = await statementOf(server.databaseUrl, (by, session) => {
    model = idsOf(session.access_token);
    return by.send('GET', '/user', undefined, session.access_token);
  });
  const values = sessions.map(({ access_token: token }) => {
    const ids = idsOf(token);
    return statement.values.map((value) => {
      if (value === model?.sub) return ids.sub;
      return value === model?.session_id ? ids.session_id : value;
    });
  });
  const bare = async (worker: number): Promise<void> => {
    const query = { name: 'user', text: statement.text, values: values[worker] ?? [] };
    const { rows } = await pool.query<{ user: { id: string } }>(query);
    if (rows[0]?.user.id !== idOf[worker]) throw new Error('the statement did not find the user');
  };
  const idOf = sessions.map(({ access_token: token }) => idsOf(token).sub);

  await perSecond(bare, CONCURRENCY, WARM_UP_MS);
  await perSecond(overHttp, CONCURRENCY, WARM_UP_MS);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await perSecond(bare, CONCURRENCY, ROUND_MS));
    ours.push(await perSecond(overHttp, CONCURRENCY, ROUND_MS));
  }
  await pool.end();
  await Promise.all(clients.map((by) => by.end()));
  const measured = { ours: median(ours), theirs: median(theirs), unit: 'requests/s', limit: '≥ 0.5' };
  const ratio = measured.ours / measured.theirs;
  yield { bench: 'auth-user', figure: 'GET /user over HTTP, 50 at once', ratio, ...measured };
}

/** Whom an access token speaks of. */
interface Ids {
  sub: string;
  session_id: string;
}

function idsOf(token: string): Ids {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Ids;
}
