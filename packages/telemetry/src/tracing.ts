import type { Resource } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { spanExporter } from './exporters.ts';
import type { Collector } from './options.ts';

/** Spans wait in a bounded queue and are sent together; when the collector is away the queue drops them. */
export async function startTracing(to: Collector, resource: Resource): Promise<TracerProvider> {
  const processor = new BatchSpanProcessor({
    exporter: await spanExporter(to),
    scheduledDelayMillis: to.intervalMs,
    exportTimeoutMillis: to.timeoutMs,
  });
  // Every call is traced, whatever a caller says of its own trace.
  return new TracerProvider({ resource, spanProcessors: [processor], sampler: new AlwaysOnSampler() });
}
