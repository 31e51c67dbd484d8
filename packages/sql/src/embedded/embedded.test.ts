import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderInUse, silentLog } from '@croft/runtime';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findBinaries } from './binaries.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './index.ts';
import { isAlive, startKept } from './keeper.ts';
import { chooseIdentity } from './run-as.ts';

const base = mkdtempSync(join(tmpdir(), 'croft-pg-'));
const template = join(base, 'template');
const running: EmbeddedPostgres[] = [];

async function start(folder: string, tuning: 'durable' | 'test' = 'test'): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ folder, log: silentLog, tuning });
  running.push(postgres);
  return postgres;
}

/** A stopped server's folder, copied: making a cluster takes a second. */
function stoppedFolder(name: string): string {
  const folder = join(base, name);
  execFileSync('cp', ['-a', template, folder]);
  return folder;
}

async function query(postgres: EmbeddedPostgres, sql: string, database = 'croft') {
  const client = new Client({ connectionString: postgres.url(database) });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

beforeAll(async () => {
  const postgres = await start(template, 'durable');
  await query(postgres, 'create table kept as select 7 as value');
  await postgres.stop();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe('a start', () => {
  it('gives its caller time for work that blocks, with the process there and no connection taken yet', async () => {
    const looks: string[] = [];
    // On a machine that is at something else the server may be there before this process gets its turn.
    for (let round = 0; round < 5 && (looks[0] ?? 'ready').includes('ready'); round++) {
      looks.splice(0);
      const folder = stoppedFolder(`blocked-${round}`);
      const pidFile = join(folder, 'cluster/postmaster.pid');
      const postgres = await startEmbeddedPostgres({
        folder,
        log: silentLog,
        tuning: 'test',
        // Nothing else of this process runs until the server is there.
        whileStarting: () => {
          const until = performance.now() + 20_000;
          do looks.push(existsSync(pidFile) ? readFileSync(pidFile, 'utf8') : '');
          while (looks.at(-1) === '' && performance.now() < until);
        },
      });
      running.push(postgres);
      expect(looks.at(-1)).not.toBe('');
      expect(await query(postgres, 'select value from kept')).toEqual([{ value: 7 }]);
    }
    expect(looks[0]).not.toContain('ready');
  });

  it('gives a durable server that only its owner can reach', async () => {
    const folder = stoppedFolder('durable');
    const postgres = await start(folder, 'durable');
    const settings = [
      'fsync',
      'synchronous_commit',
      'full_page_writes',
      'data_checksums',
      'jit',
      'listen_addresses',
    ];
    const shown = await query(
      postgres,
      `select ${settings.map((name) => `current_setting('${name}') as ${name}`).join()}`,
    );
    expect(shown).toEqual([
      {
        fsync: 'on',
        synchronous_commit: 'on',
        full_page_writes: 'on',
        data_checksums: 'on',
        jit: 'off',
        listen_addresses: '',
      },
    ]);
    const rules = await query(postgres, 'select type, auth_method from pg_hba_file_rules');
    expect(rules).toEqual([{ type: 'local', auth_method: 'trust' }]);
    expect([modeOf(folder), modeOf(join(folder, 'run')), modeOf(join(folder, 'cluster'))]).toEqual([
      0o700, 0o700, 0o700,
    ]);
    expect(await query(postgres, 'select value from kept')).toEqual([{ value: 7 }]);
  });

  it('knows upper case of all scripts without the libraries of the system', async () => {
    const postgres = await start(stoppedFolder('locale'));
    expect(await query(postgres, `select upper('é ω') as word`)).toEqual([{ word: 'É Ω' }]);
  });

  it('makes a database once, whoever asks and however often', async () => {
    const postgres = await start(stoppedFolder('databases'));
    const names = ['one', 'one', 'one', 'Ein "Name"', 'one'];
    await Promise.all(names.map((name) => postgres.createDatabase(name)));
    await postgres.createDatabase('one');
    expect(await query(postgres, 'select current_database() as name', 'Ein "Name"')).toEqual([
      { name: 'Ein "Name"' },
    ]);
  });

  it('uses a short folder for the socket when the path is too long for one', async () => {
    const deep = join(base, 'd'.repeat(60), 'e'.repeat(60));
    mkdirSync(deep, { recursive: true });
    execFileSync('cp', ['-a', template, join(deep, 'pg')]);
    const postgres = await start(join(deep, 'pg'));
    const folder = new URL(postgres.url('croft')).searchParams.get('host') as string;
    expect(modeOf(folder)).toBe(0o700);
    expect(folder.startsWith(tmpdir())).toBe(true);
    await postgres.stop();
    expect(existsSync(folder)).toBe(false);
  });

  it('serves a folder whose name needs quoting', async () => {
    const postgres = await start(stoppedFolder(`a, b "c' $d`));
    expect(await query(postgres, 'select value from kept')).toEqual([{ value: 7 }]);
  });

  it('refuses a folder that has a server, and leaves that server alone', async () => {
    const folder = stoppedFolder('twice');
    const first = await start(folder);
    await expect(start(folder)).rejects.toThrow(FolderInUse);
    expect(await query(first, 'select value from kept')).toEqual([{ value: 7 }]);
  });
});

describe('a stop', () => {
  it('breaks connections, ends every process and frees the folder', async () => {
    const folder = stoppedFolder('stop');
    const postgres = await start(folder);
    const client = new Client({ connectionString: postgres.url('croft') });
    const broken = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    await Promise.all([postgres.stop(), postgres.stop()]);
    expect(String(await broken)).toContain('terminat');
    expect(isAlive(postgres.pid)).toBe(false);
    expect(existsSync(join(folder, 'cluster/postmaster.pid'))).toBe(false);
    await start(folder);
  });
});

describe('after a crash', () => {
  it('tells why the server ended, and recovers what was committed', async () => {
    const folder = stoppedFolder('killed');
    const postgres = await start(folder, 'durable');
    await query(postgres, 'insert into kept values (8)');
    process.kill(postgres.pid, 'SIGKILL');
    expect(await postgres.exited).toContain('signal 9');
    await postgres.stop();
    const again = await start(folder, 'durable');
    expect(await query(again, 'select value from kept order by 1')).toEqual([{ value: 7 }, { value: 8 }]);
  });

  it('stops a server that was left behind and never runs two', async () => {
    const folder = stoppedFolder('orphan');
    const { postgres, environment } = await findBinaries(join(folder, 'lib'));
    const cluster = join(folder, 'cluster');
    const left = await startKept(
      [postgres, '-D', cluster, '-c', 'listen_addresses=', '-c', `unix_socket_directories=${folder}`],
      await chooseIdentity(folder, postgres),
      environment,
      () => {},
    );
    while (!existsSync(join(folder, '.s.PGSQL.5432')))
      await new Promise((resolve) => setTimeout(resolve, 10));
    const ours = await start(folder);
    expect(isAlive(left.pid)).toBe(false);
    expect(await query(ours, 'select value from kept')).toEqual([{ value: 7 }]);
  });

  it('does not mistake a stranger with a recycled number for a server', async () => {
    const folder = stoppedFolder('recycled');
    const stranger = spawn('sleep', ['60']);
    writeFileSync(
      join(folder, 'cluster/postmaster.pid'),
      `${stranger.pid}\n${folder}/cluster\n1\n5432\n${folder}/run\n\n1 1\nready\n`,
    );
    const postgres = await start(folder);
    expect(await query(postgres, 'select value from kept')).toEqual([{ value: 7 }]);
    expect(stranger.exitCode).toBe(null);
    stranger.kill();
  });
});

it('serves a cluster whose mode a copy has lost', async () => {
  const folder = stoppedFolder('mode');
  chmodSync(join(folder, 'cluster'), 0o755);
  await start(folder);
  expect(modeOf(join(folder, 'cluster'))).toBe(0o700);
});

describe('a folder that cannot serve', () => {
  it('is refused when another major version made it, and not touched', async () => {
    const folder = stoppedFolder('version');
    writeFileSync(join(folder, 'cluster/PG_VERSION'), '17\n');
    const before = readdirSync(join(folder, 'cluster'), { recursive: true }).sort();
    await expect(start(folder)).rejects.toThrow(/made by PostgreSQL 17.*DATABASE_URL.*move the folder away/);
    expect(readdirSync(join(folder, 'cluster'), { recursive: true }).sort()).toEqual(before);
    expect(readFileSync(join(folder, 'cluster/PG_VERSION'), 'utf8')).toBe('17\n');
  });

  it('is refused with the words of PostgreSQL when its configuration is broken', async () => {
    const folder = stoppedFolder('configuration');
    writeFileSync(join(folder, 'cluster/postgresql.conf'), 'shared_buffers = many\n');
    await expect(start(folder)).rejects.toThrow(/did not start.*DATABASE_URL/);
    expect(readFileSync(join(folder, 'cluster/postgresql.conf'), 'utf8')).toBe('shared_buffers = many\n');
  });

  it('is refused when this machine has no PostgreSQL for us', async () => {
    await expect(findBinaries(base, 'sunos-sparc')).rejects.toThrow(
      /no embedded PostgreSQL for sunos-sparc.*DATABASE_URL/,
    );
    const other = process.platform === 'darwin' ? 'linux-x64' : 'darwin-arm64';
    await expect(findBinaries(base, other)).rejects.toThrow(/not installed.*npm ci/);
  });
});
