export type { Collector, Scrape, TelemetryOptions } from './options.ts';
export { parsePairs } from './pairs.ts';
export { type Counter, type Histogram, openTelemetry, type Reading, type Telemetry } from './telemetry.ts';
