import { type Log, StartError } from '@croft/runtime';
import { type Collector, openTelemetry, parsePairs, type Telemetry } from '@croft/telemetry';
import type { AuthSettings } from './settings/index.ts';

/** The default of `OTEL_SERVICE_NAME`. */
const DEFAULT_NAME = 'croft-auth';

/** Traces and metrics of auth as its settings want them; undefined when they are off. */
export async function openAuthTelemetry(options: {
  settings: AuthSettings;
  version: string;
  log: Log;
}): Promise<Telemetry | undefined> {
  const { settings, version, log } = options;
  if (!settings.TRACING_ENABLED && !settings.METRICS_ENABLED) return undefined;
  const { 'service.name': named, ...attributes } = pairs(
    'OTEL_RESOURCE_ATTRIBUTES',
    settings.OTEL_RESOURCE_ATTRIBUTES,
  );
  // The standard: OTEL_SERVICE_NAME wins over the attribute.
  const asked = settings.OTEL_SERVICE_NAME;
  const service = asked === DEFAULT_NAME ? (named ?? asked) : asked;
  return await openTelemetry({
    service,
    attributes: { 'auth.version': version, ...attributes },
    tracing: settings.TRACING_ENABLED ? collector(settings, 'TRACES') : undefined,
    metrics: settings.METRICS_ENABLED ? metricsOf(settings) : undefined,
    debug: settings.DEBUG,
    log,
  });
}

function metricsOf(settings: AuthSettings) {
  if (settings.METRICS_EXPORTER === 'opentelemetry') return collector(settings, 'METRICS');
  return {
    scrape: {
      host: settings.OTEL_EXPORTER_PULLMETRICS_HOST,
      port: settings.OTEL_EXPORTER_PULLMETRICS_PORT,
      portSetting: 'OTEL_EXPORTER_PULLMETRICS_PORT',
    },
  };
}

/** Milliseconds spans wait to be sent together, the default of `OTEL_BSP_SCHEDULE_DELAY`. */
const SPANS_WAIT_MS = 5_000;

/** Where the standard puts a signal: https://opentelemetry.io/docs/specs/otel/protocol/exporter. */
function collector(settings: AuthSettings, signal: 'TRACES' | 'METRICS'): Collector {
  const own = {
    protocol: settings[`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`],
    endpoint: settings[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`],
    headers: settings[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`],
  };
  const protocol = own.protocol ?? settings.OTEL_EXPORTER_OTLP_PROTOCOL;
  const path = protocol === 'grpc' ? '' : `/v1/${signal.toLowerCase()}`;
  const everywhere =
    settings.OTEL_EXPORTER_OTLP_ENDPOINT ?? `http://localhost:${protocol === 'grpc' ? 4317 : 4318}`;
  return {
    protocol,
    url: own.endpoint ?? everywhere + path,
    headers: {
      ...pairs('OTEL_EXPORTER_OTLP_HEADERS', settings.OTEL_EXPORTER_OTLP_HEADERS?.reveal()),
      ...pairs(`OTEL_EXPORTER_OTLP_${signal}_HEADERS`, own.headers?.reveal()),
    },
    timeoutMs: settings.OTEL_EXPORTER_OTLP_TIMEOUT,
    intervalMs: signal === 'TRACES' ? SPANS_WAIT_MS : settings.OTEL_METRIC_EXPORT_INTERVAL,
  };
}

function pairs(setting: string, text: string | undefined): Record<string, string> {
  try {
    return parsePairs(text ?? '');
  } catch (error) {
    throw new StartError(`${setting}: ${(error as Error).message}`);
  }
}
