import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import bcrypt from 'bcrypt';
import { client, PASSWORD, perSecond, signUp, startService } from './auth/service.ts';
import { type Figure, median } from './figure.ts';

/** More than there are cores, so that none of them waits for the next request; far from the 2 s of the queue. */
const CONCURRENCY = 8;
const ROUNDS = 3;
const ROUND_MS = 2_000;
const WARM_UP_MS = 1_000;
const MAX_DELAY_MS = 20;

/**
 * Sign-ins with a password over HTTP, each with a user of its own, against what they cannot do without, the bare check
 * of an argon2id hash, and against the check that GoTrue's servers are bound by, bcrypt with a cost of 10. All on as
 * many cores, in turns. Meanwhile the service's event loop must stay free for everybody else.
 */
export async function* figures(): AsyncGenerator<Figure> {
  await using server = await startService();
  const clients = await Promise.all(Array.from({ length: CONCURRENCY }, () => client(server.address)));
  for (const [worker, by] of clients.entries()) await signUp(by, `login-${worker}`);
  const login = async (worker: number): Promise<void> => {
    const email = `login-${worker}@example.com`;
    await clients[worker]?.send('POST', '/token?grant_type=password', { email, password: PASSWORD });
  };
  const argon2id = await hash(PASSWORD, { memoryCost: 7_168, timeCost: 5, parallelism: 1 });
  const bcrypt10 = await bcrypt.hash(PASSWORD, 10);
  const cores = availableParallelism();
  const bareArgon2id = async (): Promise<void> => check(await verify(argon2id, PASSWORD));
  const bareBcrypt = async (): Promise<void> => check(await bcrypt.compare(PASSWORD, bcrypt10));

  await perSecond(bareArgon2id, cores, WARM_UP_MS);
  await perSecond(login, CONCURRENCY, WARM_UP_MS);
  const [ours, argon2s, bcrypts, delays]: number[][] = [[], [], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    argon2s?.push(await perSecond(bareArgon2id, cores, ROUND_MS));
    bcrypts?.push(await perSecond(bareBcrypt, cores, ROUND_MS));
    await server.loopDelay();
    ours?.push(await perSecond(login, CONCURRENCY, ROUND_MS));
    delays?.push(await server.loopDelay());
  }
  await Promise.all(clients.map((by) => by.end()));

  const logins = median(ours ?? []);
  const against = (figure: string, theirs: number, limit: string): Figure => ({
    bench: 'auth-login',
    figure,
    ratio: logins / theirs,
    ours: logins,
    theirs,
    unit: 'sign-ins/s',
    limit,
  });
  yield against('password sign-ins against bare argon2id', median(argon2s ?? []), '≥ 0.9');
  yield against('password sign-ins against bare bcrypt 10', median(bcrypts ?? []), '≥ 4');
  const delay = median(delays ?? []);
  yield {
    bench: 'auth-login',
    figure: 'event-loop delay meanwhile, p99',
    ratio: MAX_DELAY_MS / delay,
    ours: delay,
    theirs: MAX_DELAY_MS,
    unit: 'ms',
    limit: '≥ 1',
  };
}

function check(matches: boolean): void {
  if (!matches) throw new Error('the password does not match');
}
