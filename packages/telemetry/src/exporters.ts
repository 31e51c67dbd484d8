import { validateHeaderName, validateHeaderValue } from 'node:http';
import { StartError } from '@croft/runtime';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Collector } from './options.ts';

/** Sends spans; only the protocol in use is loaded. */
export async function spanExporter(to: Collector): Promise<SpanExporter> {
  if (to.protocol === 'grpc') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc');
    return new OTLPTraceExporter(await overGrpc(to));
  }
  const { OTLPTraceExporter } =
    to.protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter(overHttp(to));
}

/** Sends metrics; only the protocol in use is loaded. */
export async function metricExporter(to: Collector): Promise<PushMetricExporter> {
  if (to.protocol === 'grpc') {
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-grpc');
    return new OTLPMetricExporter(await overGrpc(to));
  }
  const { OTLPMetricExporter } =
    to.protocol === 'http/json'
      ? await import('@opentelemetry/exporter-metrics-otlp-http')
      : await import('@opentelemetry/exporter-metrics-otlp-proto');
  return new OTLPMetricExporter(overHttp(to));
}

function overHttp({ url, headers, timeoutMs }: Collector) {
  checkHeaders(headers);
  return { url, headers: { ...headers }, timeoutMillis: timeoutMs };
}

async function overGrpc({ url, headers, timeoutMs }: Collector) {
  const { Metadata } = await import('@grpc/grpc-js');
  const metadata = new Metadata();
  checkHeaders(headers);
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return { url, metadata, timeoutMillis: timeoutMs };
}

/** Otherwise every export would fail, and say so with the value, which is a secret. */
function checkHeaders(headers: Collector['headers']): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw new StartError(`The header ${JSON.stringify(name)} for the collector holds what no header may.`);
    }
  }
}
