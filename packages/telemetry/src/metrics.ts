import type { Resource } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { metricExporter } from './exporters.ts';
import type { Collector, Scrape } from './options.ts';
import { serveMetrics } from './scrape.ts';

/** Metrics that are on. */
export interface Metrics {
  readonly provider: MeterProvider;
  readonly scrapeAddress: string | undefined;
  close(): Promise<void>;
}

/**
 * Pushes metrics every `intervalMs`, or serves them.
 * @throws StartError when the address to serve them on cannot be used
 */
export async function startMetrics(to: Collector | Scrape, resource: Resource): Promise<Metrics> {
  if ('scrape' in to) return await serve(to, resource);
  const reader = new PeriodicExportingMetricReader({
    exporter: await metricExporter(to),
    exportIntervalMillis: to.intervalMs,
    exportTimeoutMillis: Math.min(to.timeoutMs, to.intervalMs),
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return { provider, scrapeAddress: undefined, close: () => provider.shutdown() };
}

async function serve(to: Scrape, resource: Resource): Promise<Metrics> {
  const { PrometheusExporter } = await import('@opentelemetry/exporter-prometheus');
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ resource, readers: [exporter] });
  const server = await serveMetrics(to, (request, response) => {
    exporter.getMetricsRequestHandler(request, response);
    // The exporter leaves out the version, and collects before it writes anything.
    response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
  });
  return {
    provider,
    scrapeAddress: server.address,
    async close() {
      await server.close();
      await provider.shutdown();
    },
  };
}
