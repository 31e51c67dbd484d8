import type { Log } from '@croft/runtime';

/** What a service says of its telemetry; nothing is loaded for what is left out. */
export interface TelemetryOptions {
  /** `service.name`, unless `attributes` have another. */
  service: string;
  /** Attributes of the resource: of every span and metric. They win over what we say by ourselves. */
  attributes: Readonly<Record<string, string>>;
  /** Spans are pushed to a collector. */
  tracing?: Collector | undefined;
  /** Metrics are pushed to a collector, or fetched from us. */
  metrics?: Collector | Scrape | undefined;
  /** Whether the SDK tells all it does, in the log. */
  debug: boolean;
  log: Log;
}

/** A collector that speaks OTLP. */
export interface Collector {
  protocol: 'http/protobuf' | 'http/json' | 'grpc';
  /** Over HTTP the whole address, path included; for `grpc` the origin. */
  url: string;
  /** Sent with every export; they usually hold a key. */
  headers: Readonly<Record<string, string>>;
  /** Milliseconds one export may take. */
  timeoutMs: number;
  /** Milliseconds between two exports. */
  intervalMs: number;
}

/** Where Prometheus fetches metrics, at path `/`. */
export interface Scrape {
  scrape: { host: string; port: number; portSetting: string };
}
