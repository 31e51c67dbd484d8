import { resolve } from 'node:path';
import { authSettings } from '@croft/auth/settings';
import { defineSettings, readSettings, SettingsError, text } from '@croft/settings';
import type { Environment } from './environment.ts';
import type { GitProgram } from './house/git.ts';
import type { Secrets } from './house/secrets.ts';
import { PLACEHOLDERS } from './house/secrets.ts';
import {
  type Configured,
  findService,
  type Service,
  type ServiceName,
  serviceNames,
} from './registry/index.ts';
import { type LauncherSettings, launcherSettings } from './settings.ts';
import { explainUnknown } from './unknown-variables.ts';

/** A run whose settings are all good; nothing has been touched yet. */
export interface Configuration {
  readonly settings: LauncherSettings;
  readonly dataFolder: string;
  readonly logLevelGiven: boolean;
  readonly services: readonly Service[];
  /** Sentences about variables that nobody reads. */
  readonly warnings: readonly string[];
  /** Git programs that must be there. */
  readonly git: readonly GitProgram[];
  readonly needsEmbeddedDatabase: boolean;
  /** Where auth answers, be it in this process or another. */
  readonly authUrl: string;
  /** What auth's table says of administrators; forge honours it without loading auth. */
  readonly adminRoles: readonly string[];
  configure(secrets: Secrets): Map<ServiceName, Configured>;
}

/**
 * Reads the settings of Croft and of the services that shall run.
 * @param named whether a person named the services: one without the other and with a database of its own is on its own
 * configuration, and what is required stays required; auth and forge together share what is in the data folder
 * @throws SettingsError with the problems of all of them at once
 */
export async function readConfiguration(
  environment: Environment,
  names: readonly ServiceName[],
  named: boolean,
): Promise<Configuration> {
  const services = await Promise.all(names.map(findService));
  const problems: string[] = [];
  const settings = attempt(problems, () => readSettings(launcherSettings, environment));
  // The bare PORT means auth only when nothing else could be meant.
  const own = names.length === 1 && names[0] === 'auth' ? environment : { ...environment, PORT: undefined };
  const isWhole = names.includes('auth') && names.includes('forge');
  const configureOne = (service: Service, secrets: Secrets) => {
    const onItsOwn = named && !isWhole && usesOwnDatabase(service, own);
    const beneath = onItsOwn ? {} : defaults(own, !named || names.includes('forge'), secrets);
    return service.configure({ ...beneath, ...given(own) }, onItsOwn);
  };
  const tried = services.map((service) => attempt(problems, () => configureOne(service, PLACEHOLDERS)));
  problems.push(...findClash(own, names));
  const unknown = await warnOfUnknown(environment);
  // What is missing may be there under a name that was misspelt.
  if (problems.length > 0 || settings === undefined) throw new SettingsError([...problems, ...unknown]);
  const adminRoles = authSettings.settings.JWT_ADMIN_ROLES;

  return {
    settings,
    dataFolder: resolve(settings.CROFT_DATA),
    logLevelGiven: isGiven(environment, ['LOG_LEVEL', ...launcherSettings.settings.LOG_LEVEL.alsoNamed]),
    services,
    warnings: [...unknown, ...warnOfShort(environment)],
    git: tried.flatMap((configured) => configured?.git ?? []),
    needsEmbeddedDatabase: services.some(
      (service, index) => service.usesDatabase && tried[index]?.database === undefined,
    ),
    authUrl: authAddress(own),
    adminRoles: adminRoles.kind.parse(given(own)['AUTHSVC_JWT_ADMIN_ROLES'] ?? adminRoles.default),
    configure: (secrets) =>
      new Map(services.map((service) => [service.name, configureOne(service, secrets)])),
  };
}

/** Variables of ours that are no settings: the bootstrap's pipe and the tests' database. */
const internal = defineSettings('Croft', 'CROFT_', {
  PARENT_PIPE: { kind: text, about: 'Descriptor that the bootstrap holds the other end of.' },
  TEST_DATABASE_URL: { kind: text, about: 'Database of the tests.' },
});

/** Settings of services that do not run are known as well: one `.env` may serve several processes. */
async function warnOfUnknown(environment: Environment): Promise<string[]> {
  const all = await Promise.all(serviceNames.map(findService));
  const tables = [launcherSettings, internal, ...all.map(({ table }) => table)];
  return explainUnknown(tables, environment);
}

/** RFC 7518 §3.2 wants as many bytes of a key of HS256, and so does whoever would have to guess the others. */
const ENOUGH_BYTES = 32;

/** They are taken all the same, because tokens and values that others made with them must go on being read. */
function warnOfShort(environment: Environment): string[] {
  return ['AUTHSVC_JWT_SECRET', 'FORGE_JWT_SECRET', 'CROFT_AT_REST_KEY'].flatMap((name) => {
    const value = environment[name] ?? '';
    if (value === '' || Buffer.byteLength(value) >= ENOUGH_BYTES) return [];
    return `${name} is shorter than ${ENOUGH_BYTES} bytes and can be guessed; make a new one with: openssl rand -base64 32`;
  });
}

/** Two services at one address: the second would be told that somebody else is there. */
function findClash(environment: Environment, names: readonly ServiceName[]): string[] {
  if (!names.includes('auth') || !names.includes('forge')) return [];
  const { AUTHSVC_API_HOST = '', AUTHSVC_API_PORT = '8081', ...values } = given(environment);
  const { FORGE_HTTP_HOST = '', FORGE_HTTP_PORT = '3000' } = values;
  const isOne =
    AUTHSVC_API_PORT === FORGE_HTTP_PORT && reachable(AUTHSVC_API_HOST) === reachable(FORGE_HTTP_HOST);
  if (!isOne || FORGE_HTTP_PORT === '0') return [];
  return [
    `AUTHSVC_API_PORT and FORGE_HTTP_PORT are both ${FORGE_HTTP_PORT}: each service needs a port of its own`,
  ];
}

function attempt<T>(problems: string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    problems.push(...error.problems.filter((problem) => !problems.includes(problem)));
    return undefined;
  }
}

/** Asks for exactly the names its table reads: one more, and it would be on its own without its database. */
function usesOwnDatabase(service: Service, environment: Environment): boolean {
  return service.usesDatabase && isGiven(environment, databaseVariables(service));
}

/** The variable that names the database of a service. */
export function databaseVariable(service: Service, environment: Environment): string {
  return databaseVariables(service).find((name) => isGiven(environment, [name])) ?? 'DATABASE_URL';
}

function databaseVariables({ table: { prefix, settings } }: Service): string[] {
  return ['DB_DATABASE_URL', 'DATABASE_URL'].flatMap((name) => {
    const setting = settings[name];
    return setting === undefined ? [] : [prefix + name, ...(setting.alsoNamed ?? [])];
  });
}

/**
 * What is required and has a value only because everything runs here, together.
 * @param hasForge whether the forge is part of it: of a task's Croft, unless somebody said something else, it is
 */
function defaults(environment: Environment, hasForge: boolean, secrets: Secrets): Environment {
  const address = authAddress(environment);
  const values = given(environment);
  const { FORGE_HTTP_HOST = '', FORGE_HTTP_PORT = '3000', FORGE_ROOT_URL } = values;
  const { AUTHSVC_SMTP_HOST: SMTP_HOST } = values;
  const forgeAddress = FORGE_ROOT_URL ?? `http://${reachable(FORGE_HTTP_HOST)}:${FORGE_HTTP_PORT}`;
  return {
    AUTHSVC_SITE_URL: sound(hasForge ? forgeAddress : address),
    AUTHSVC_API_EXTERNAL_URL: sound(address),
    AUTHSVC_JWT_SECRET: secrets.jwtSecret.reveal(),
    AUTHSVC_DB_DRIVER: 'postgres',
    // A mail server takes mails from an address that exists, and which that is only a person knows.
    ...(SMTP_HOST === undefined ? { AUTHSVC_SMTP_ADMIN_EMAIL: 'croft@localhost' } : {}),
  };
}

/** What is wrong in an address is told of the setting that it was made of, and not once more of those that nobody set. */
function sound(address: string): string {
  return URL.canParse(address) ? address : 'http://127.0.0.1';
}

function authAddress(environment: Environment): string {
  const values = given(environment);
  const port = values['AUTHSVC_API_PORT'] ?? values['PORT'] ?? '8081';
  return (
    values['AUTHSVC_API_EXTERNAL_URL'] ??
    values['API_EXTERNAL_URL'] ??
    `http://${reachable(values['AUTHSVC_API_HOST'] ?? '')}:${port}`
  );
}

/** An address that listens everywhere is reached on loopback. */
function reachable(host: string): string {
  if (host === '' || host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function isGiven(environment: Environment, names: readonly string[]): boolean {
  return names.some((name) => (environment[name] ?? '') !== '');
}

/** An empty variable counts as not set, so it must not hide a default. */
function given(environment: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => (entry[1] ?? '') !== ''),
  );
}
