import { type SettingsTable, unknownVariables } from '@croft/settings';
import type { Environment } from './environment.ts';

/** Prefix of the server whose protocol auth speaks; people bring its files. */
const FOREIGN = 'GOTRUE_';
const OURS = 'AUTHSVC_';

/**
 * Names of the other server that follow no rule, without their prefix (as GoTrue): it puts the group
 * of a setting before names that begin with the group already.
 */
const ODD_NAMES: Readonly<Record<string, string>> = {
  API_API_EXTERNAL_URL: 'API_EXTERNAL_URL',
  API_REQUEST_ID_HEADER: 'REQUEST_ID_HEADER',
  API_PORT: 'API_PORT',
  PORT: 'API_PORT',
  DB_DB_NAMESPACE: 'DB_NAMESPACE',
  DATABASE_URL: 'DB_DATABASE_URL',
  METRICS_OTEL_EXPORTER_OTLP_PROTOCOL: 'OTEL_EXPORTER_OTLP_PROTOCOL',
  METRICS_OTEL_EXPORTER_PROMETHEUS_HOST: 'OTEL_EXPORTER_PULLMETRICS_HOST',
  METRICS_OTEL_EXPORTER_PROMETHEUS_PORT: 'OTEL_EXPORTER_PULLMETRICS_PORT',
  TRACING_OTEL_EXPORTER_OTLP_PROTOCOL: 'OTEL_EXPORTER_OTLP_PROTOCOL',
};

/** A sentence about each variable that looks as if it were meant for Croft and that nobody reads. */
export function explainUnknown(tables: readonly SettingsTable[], environment: Environment): string[] {
  return [...foreignNames(tables, environment), ...ownNames(tables, environment)];
}

function ownNames(tables: readonly SettingsTable[], environment: Environment): string[] {
  return unknownVariables(tables, environment).map(({ name, nearest }) => {
    const plain = name.startsWith(OURS) ? ODD_NAMES[name.slice(OURS.length)] : undefined;
    if (plain !== undefined) return `${name} is no setting of Croft; here it is plainly ${OURS}${plain}`;
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    return `${name} is no setting of Croft${hint}`;
  });
}

/** One that is set under our name too is there for the other server, and not worth a word. */
function foreignNames(tables: readonly SettingsTable[], environment: Environment): string[] {
  const known = new Set(
    tables.flatMap(({ prefix, settings }) =>
      Object.entries(settings).flatMap(([name, { alsoNamed = [] }]) => [prefix + name, ...alsoNamed]),
    ),
  );
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith(FOREIGN) || (environment[name] ?? '') === '') return [];
    const rest = name.slice(FOREIGN.length);
    const ours = OURS + (ODD_NAMES[rest] ?? rest);
    if ((environment[ours] ?? '') !== '') return [];
    return known.has(ours)
      ? `${name} is not read, Croft's variables have a prefix of their own; here it is ${ours}`
      : `${name} is not read: Croft has no such setting`;
  });
}
