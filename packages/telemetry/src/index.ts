export type { Collector, Scrape, TelemetryOptions } from './options.ts';
export { parsePairs } from './pairs.ts';
export { type Counter, openTelemetry, type Telemetry } from './telemetry.ts';
