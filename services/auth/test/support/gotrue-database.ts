import { randomUUID } from 'node:crypto';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@croft/runtime';
import { openDatabase } from '@croft/sql';

// A database as GoTrue leaves it: the tables an import reads, as its version 2.150 and as today's have them.

/** Which of its versions made the tables. */
export type Shape = 'v2.150' | 'head';

/** Columns and types of each table; those after `head:` came later than v2.150. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  users: [
    'instance_id uuid',
    'id uuid primary key',
    'aud varchar(255)',
    'role varchar(255)',
    'email varchar(255)',
    'encrypted_password varchar(255)',
    'email_confirmed_at timestamptz',
    'invited_at timestamptz',
    'confirmation_token varchar(255)',
    'confirmation_sent_at timestamptz',
    'recovery_token varchar(255)',
    'recovery_sent_at timestamptz',
    'email_change_token_new varchar(255)',
    'email_change varchar(255)',
    'email_change_sent_at timestamptz',
    'last_sign_in_at timestamptz',
    'raw_app_meta_data jsonb',
    'raw_user_meta_data jsonb',
    'is_super_admin boolean',
    'created_at timestamptz',
    'updated_at timestamptz',
    'phone text unique',
    'phone_confirmed_at timestamptz',
    "phone_change text default ''",
    "phone_change_token varchar(255) default ''",
    'phone_change_sent_at timestamptz',
    'confirmed_at timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored',
    "email_change_token_current varchar(255) default ''",
    'email_change_confirm_status smallint default 0',
    'banned_until timestamptz',
    "reauthentication_token varchar(255) default ''",
    'reauthentication_sent_at timestamptz',
    'is_sso_user boolean not null default false',
    'deleted_at timestamptz',
    'head: is_anonymous boolean not null default false',
  ],
  identities: [
    'provider_id text not null',
    'user_id uuid not null',
    'identity_data jsonb not null',
    'provider text not null',
    'last_sign_in_at timestamptz',
    'created_at timestamptz',
    'updated_at timestamptz',
    "email text generated always as (lower(identity_data ->> 'email')) stored",
    'id uuid not null default gen_random_uuid() primary key',
  ],
  sessions: [
    'id uuid primary key',
    'user_id uuid not null',
    'created_at timestamptz',
    'updated_at timestamptz',
    'factor_id uuid',
    'aal :schema.aal_level',
    'not_after timestamptz',
    'refreshed_at timestamp without time zone',
    'user_agent text',
    'ip inet',
    'tag text',
    'head: oauth_client_id uuid',
    'head: refresh_token_hmac_key text',
    'head: refresh_token_counter bigint',
    'head: scopes text',
  ],
  refresh_tokens: [
    'instance_id uuid',
    'id bigserial primary key',
    'token varchar(255) unique',
    'user_id varchar(255)',
    'revoked boolean',
    'created_at timestamptz',
    'updated_at timestamptz',
    'parent varchar(255)',
    'session_id uuid',
  ],
  mfa_factors: [
    'id uuid primary key',
    'user_id uuid not null',
    'friendly_name text',
    'factor_type :schema.factor_type not null',
    'status :schema.factor_status not null',
    'created_at timestamptz not null',
    'updated_at timestamptz not null',
    'secret text',
    'head: phone text',
    'head: last_challenged_at timestamptz unique',
    'head: web_authn_credential jsonb',
  ],
  mfa_amr_claims: [
    'session_id uuid not null',
    'created_at timestamptz not null',
    'updated_at timestamptz not null',
    'authentication_method text not null',
    'id uuid not null primary key',
  ],
  audit_log_entries: [
    'instance_id uuid',
    'id uuid primary key',
    'payload json',
    'created_at timestamptz',
    "head: ip_address varchar(64) not null default ''",
  ],
  schema_migrations: ['version varchar(14) primary key'],
};

/** Tables of GoTrue with what a test puts into them. */
export interface GoTrueDatabase extends AsyncDisposable {
  readonly schema: string;
  put(table: string, ...rows: object[]): Promise<void>;
  script(text: string): Promise<void>;
  /** A plain dump of them, as pg_dump writes it. @returns its file */
  dump(): Promise<string>;
}

/** Makes the tables in a schema of their own, `gotrue` unless told otherwise. */
export async function gotrueDatabase(url: string, shape: Shape, schema = 'gotrue'): Promise<GoTrueDatabase> {
  const database = openDatabase({ url, schema, log: silentLog, poolSize: 1 });
  const columnsOf = (table: string): string[] =>
    (TABLES[table] ?? [])
      .filter((column) => shape === 'head' || !column.startsWith('head: '))
      .map((column) => column.replace('head: ', ''));
  const script = (text: string) => database.autocommit().script(text.replaceAll(':schema', schema));
  await script(`create schema :schema;
    create type :schema.aal_level as enum ('aal1', 'aal2', 'aal3');
    create type :schema.factor_type as enum ('totp', 'webauthn'${shape === 'head' ? ", 'phone'" : ''});
    create type :schema.factor_status as enum ('unverified', 'verified');`);
  for (const table of Object.keys(TABLES)) {
    await script(`create table :schema.${table} (${columnsOf(table).join(', ')});
      alter table :schema.${table} enable row level security;`);
  }
  const files: string[] = [];

  return {
    schema,
    script,
    async put(table, ...rows) {
      const known = columnsOf(table).map((column) => column.split(' ', 1)[0] ?? '');
      for (const row of rows) {
        const names = Object.keys(row).filter((name) => known.includes(name));
        const json = JSON.stringify(row).replaceAll("'", "''");
        await script(`insert into :schema.${table} (${names.join(', ')})
          select ${names.join(', ')} from json_populate_record(null:::schema.${table}, '${json}')`);
      }
    },
    async dump() {
      const parts = ['--', '-- PostgreSQL database dump', '--', '', "SET client_encoding = 'UTF8';", ''];
      // By name, as pg_dump has them, which is not the order in which they depend on one another.
      for (const table of Object.keys(TABLES).sort()) {
        const names = columnsOf(table)
          .filter((column) => !column.includes('generated always'))
          .map((column) => column.split(' ', 1)[0] ?? '');
        // The server writes the rows itself.
        const file = join(tmpdir(), `croft-copy-${randomUUID()}`);
        await writeFile(file, '');
        await chmod(file, 0o666);
        await script(`copy :schema.${table} (${names.join(', ')}) to '${file}'`);
        parts.push(`COPY ${schema}.${table} (${names.join(', ')}) FROM stdin;`);
        parts.push(`${await readFile(file, 'utf8')}\\.`, '', '');
        await rm(file);
      }
      const file = join(tmpdir(), `croft-dump-${randomUUID()}.sql`);
      await writeFile(file, [...parts, '-- PostgreSQL database dump complete', ''].join('\n'));
      files.push(file);
      return file;
    },
    async [Symbol.asyncDispose]() {
      await database.close();
      await Promise.all(files.map((file) => rm(file)));
    },
  };
}
