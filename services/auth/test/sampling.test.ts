import { createApp } from '@croft/http';
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { expect, test } from 'vitest';
import { errorDialect } from '../src/error-json.ts';
import { authSettings } from '../src/settings.ts';
import { openAuthTelemetry } from '../src/telemetry.ts';
import { JWT_SECRET } from './harness.ts';
import { otlpReceiver } from './support/otlp-receiver.ts';

test('every request is traced, also one whose caller decided that its own trace is not', async () => {
  await using receiver = await otlpReceiver();
  const settings = readSettings(authSettings, {
    AUTHSVC_SITE_URL: 'https://site.example',
    AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
    AUTHSVC_JWT_SECRET: JWT_SECRET,
    AUTHSVC_TRACING_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  });
  const telemetry = await openAuthTelemetry({ settings, version: '1', log: silentLog });
  const api = { title: 'test', description: '', version: '1' };
  const app = await createApp({ api, log: silentLog, errors: errorDialect });
  telemetry?.observe(app);
  app.get('/health', () => ({ ok: true }));
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  for (const flags of ['00', '01']) {
    const traceparent = `00-${traceId}-b7ad6b7169203331-${flags}`;
    await app.inject({ url: '/health', headers: { traceparent } });
  }
  await telemetry?.close();
  expect(receiver.spans.map((span) => span.traceId)).toEqual([traceId, traceId]);
  await app.close();
});
