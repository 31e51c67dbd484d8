import { boolean, choice, integer, ipAddress, port, secret, text, url } from '@croft/settings';
import { exactUrl } from './kinds.ts';

const protocols = choice('http/protobuf', 'http/json', 'grpc');

/** Traces and metrics; the names with `OTEL_` are the standard's and count without our prefix too. */
export const telemetrySettings = {
  TRACING_ENABLED: { kind: boolean, default: 'false', about: 'Traces of all requests are exported.' },
  TRACING_EXPORTER: {
    kind: choice('opentelemetry'),
    default: 'opentelemetry',
    about: 'How traces are exported: pushed to a collector.',
  },
  METRICS_ENABLED: { kind: boolean, default: 'false', about: 'Metrics are exported.' },
  METRICS_EXPORTER: {
    kind: choice('opentelemetry', 'pullmetrics', 'prometheus'),
    default: 'opentelemetry',
    about:
      'How metrics are exported: pushed to a collector, or served for scraping (`prometheus` is another word for `pullmetrics`).',
  },
  DEBUG: { kind: boolean, default: 'false', about: 'What the telemetry library has to say is logged.' },

  OTEL_SERVICE_NAME: {
    kind: text,
    default: 'croft-auth',
    alsoNamed: ['OTEL_SERVICE_NAME'],
    about: 'Name of the service in traces and metrics.',
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    kind: text,
    alsoNamed: ['OTEL_RESOURCE_ATTRIBUTES'],
    about: 'Attributes of traces and metrics, `key=value,key=value`; `auth.version` is always there.',
  },
  OTEL_EXPORTER_PULLMETRICS_HOST: {
    kind: ipAddress,
    default: '0.0.0.0',
    alsoNamed: [
      'OTEL_EXPORTER_PULLMETRICS_HOST',
      'AUTHSVC_OTEL_EXPORTER_PROMETHEUS_HOST',
      'OTEL_EXPORTER_PROMETHEUS_HOST',
    ],
    about: 'Address on which metrics are served.',
  },
  OTEL_EXPORTER_PULLMETRICS_PORT: {
    kind: port,
    default: '9100',
    alsoNamed: [
      'OTEL_EXPORTER_PULLMETRICS_PORT',
      'AUTHSVC_OTEL_EXPORTER_PROMETHEUS_PORT',
      'OTEL_EXPORTER_PROMETHEUS_PORT',
    ],
    about: 'Port on which metrics are served.',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    kind: protocols,
    default: 'http/protobuf',
    alsoNamed: ['OTEL_EXPORTER_OTLP_PROTOCOL'],
    about: 'How the collector is spoken to.',
  },
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: {
    kind: protocols,
    alsoNamed: ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'],
    about: 'The same for traces alone.',
  },
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: {
    kind: protocols,
    alsoNamed: ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL'],
    about: 'The same for metrics alone.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    kind: url,
    alsoNamed: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
    about: 'Address of the collector; without it the one the protocol has on this host.',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    kind: exactUrl,
    alsoNamed: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
    about: 'The whole address for traces.',
  },
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: {
    kind: exactUrl,
    alsoNamed: ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'],
    about: 'The whole address for metrics.',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    kind: secret,
    alsoNamed: ['OTEL_EXPORTER_OTLP_HEADERS'],
    about: 'Headers for the collector, `key=value,key=value`.',
  },
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: {
    kind: secret,
    alsoNamed: ['OTEL_EXPORTER_OTLP_TRACES_HEADERS'],
    about: 'Headers for traces alone.',
  },
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: {
    kind: secret,
    alsoNamed: ['OTEL_EXPORTER_OTLP_METRICS_HEADERS'],
    about: 'Headers for metrics alone.',
  },
  OTEL_EXPORTER_OTLP_TIMEOUT: {
    kind: integer(1),
    default: '10000',
    alsoNamed: ['OTEL_EXPORTER_OTLP_TIMEOUT'],
    about: 'Milliseconds an export may take.',
  },
  OTEL_METRIC_EXPORT_INTERVAL: {
    kind: integer(1),
    default: '60000',
    alsoNamed: ['OTEL_METRIC_EXPORT_INTERVAL'],
    about: 'Milliseconds between two exports of metrics.',
  },
} as const;
