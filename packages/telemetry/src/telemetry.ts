import type { App } from '@croft/http';
import type { TelemetryOptions } from './options.ts';

/** Traces and metrics of one service, while they are on. */
export interface Telemetry {
  /** Watches all requests of the application; call it before routes are added. */
  observe(app: App): void;
  /** A number that only grows. Its labels must have few values: each combination is a row for ever. */
  counter(name: string, about: string): Counter;
  /** How long something took, in seconds. Labels as above. */
  histogram(name: string, about: string, bounds: readonly number[]): Histogram;
  /** Numbers that are read whenever somebody looks; what `read` throws is left out. */
  gauge(name: string, about: string, read: () => Promise<readonly Reading[]>): void;
  /** Where metrics are fetched, when they are: an address such as `http://127.0.0.1:9100/`. */
  readonly scrapeAddress: string | undefined;
  /** Sends what is left, for at most a few seconds, and stops. */
  close(): Promise<void>;
}

/** See `Telemetry.counter`. */
export interface Counter {
  add(amount: number, labels?: Readonly<Record<string, string>>): void;
}

/** See `Telemetry.histogram`. */
export interface Histogram {
  record(seconds: number, labels?: Readonly<Record<string, string>>): void;
}

/** One number of a gauge. */
export interface Reading {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * Turns telemetry on. When both traces and metrics are off it returns undefined and not one module of the SDK is
 * loaded: those take longer than everything else of a start.
 * @throws StartError when metrics are to be fetched from an address that cannot be used
 */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry | undefined> {
  if (options.tracing === undefined && options.metrics === undefined) return undefined;
  const { startTelemetry } = await import('./start-telemetry.ts');
  return await startTelemetry(options);
}
