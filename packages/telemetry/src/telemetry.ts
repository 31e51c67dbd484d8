import type { App } from '@croft/http';
import type { TelemetryOptions } from './options.ts';

/** Traces and metrics of one service, while they are on. */
export interface Telemetry {
  /** Watches all requests of the application; call it before routes are added. */
  observe(app: App): void;
  /** A number that only grows. Its labels must have few values: each combination is a row for ever. */
  counter(name: string, about: string): Counter;
  /** Where metrics are fetched, when they are: an address such as `http://127.0.0.1:9100/`. */
  readonly scrapeAddress: string | undefined;
  /** Sends what is left, for at most a few seconds, and stops. */
  close(): Promise<void>;
}

/** See `Telemetry.counter`. */
export interface Counter {
  add(amount: number, labels?: Readonly<Record<string, string>>): void;
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
