import { setTimeout as sleep } from 'node:timers/promises';
import { type Attributes, DiagLogLevel, diag } from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { observeRequests } from './http-observer.ts';
import { startMetrics } from './metrics.ts';
import type { TelemetryOptions } from './options.ts';
import { measureRuntime } from './runtime-metrics.ts';
import type { Telemetry } from './telemetry.ts';
import { startTracing } from './tracing.ts';

/** What is not sent by then is lost: a collector that is away must not hold up the end of the process. */
const CLOSE_MS = 3_000;
const SCOPE = 'croft';

/** Loads and starts what is on; see `openTelemetry`. */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { service, attributes, debug, log } = options;
  diag.setLogger(
    {
      error: (message, ...details) => log.warn(inText(details), `telemetry: ${message}`),
      warn: (message, ...details) => log.warn(inText(details), `telemetry: ${message}`),
      info: (message, ...details) => log.info(inText(details), `telemetry: ${message}`),
      debug: (message, ...details) => log.info(inText(details), `telemetry: ${message}`),
      verbose: () => {},
    },
    { logLevel: debug ? DiagLogLevel.DEBUG : DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const resource = defaultResource().merge(
    resourceFromAttributes({ 'service.name': service, ...attributes } satisfies Attributes),
  );
  // Metrics last: what they open is a port, which nobody would close if tracing failed after them.
  const tracing = options.tracing && (await startTracing(options.tracing, resource));
  const metrics = options.metrics && (await startMetrics(options.metrics, resource));
  if (metrics?.scrapeAddress !== undefined)
    log.info({ metrics: metrics.scrapeAddress }, 'metrics are served');
  const meter = metrics?.provider.getMeter(SCOPE);
  const runtime = meter && measureRuntime(meter);

  const close = async (): Promise<void> => {
    runtime?.[Symbol.dispose]();
    const closing = Promise.allSettled([tracing?.shutdown(), metrics?.close()]);
    await Promise.race([closing, sleep(CLOSE_MS, undefined, { ref: false })]);
  };
  let closed: Promise<void> | undefined;
  return {
    scrapeAddress: metrics?.scrapeAddress,
    observe: (app) => observeRequests(app, tracing?.getTracer(SCOPE), meter),
    counter(name, about) {
      const counter = meter?.createCounter(name, { description: about });
      return { add: (amount, labels) => counter?.add(amount, { ...labels }) };
    },
    histogram(name, about, bounds) {
      const advice = { explicitBucketBoundaries: [...bounds] };
      const histogram = meter?.createHistogram(name, { unit: 's', description: about, advice });
      return { record: (seconds, labels) => histogram?.record(seconds, { ...labels }) };
    },
    gauge(name, about, read) {
      meter?.createObservableGauge(name, { description: about }).addCallback(async (result) => {
        for (const { value, labels } of await read().catch(() => [])) result.observe(value, { ...labels });
      });
    },
    close: () => (closed ??= close()),
  };
}

/** Details of the SDK are anything; a log takes an object. */
function inText(details: readonly unknown[]): object {
  return details.length === 0 ? {} : { details: details.map(String) };
}
