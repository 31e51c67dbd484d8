import type { App } from '@croft/http';
import { API_PREFIX } from '../links.ts';
import { toSwaggerTwo } from './swagger-two.ts';

/** Serves the description of the API where tools of the reference's users look for it, and in the form they read. */
export function serveSwagger(app: App): void {
  let document: Promise<object> | undefined;
  app.get('/swagger.v1.json', { schema: { hide: true } }, () => (document ??= describe(app)));
}

async function describe(app: App): Promise<object> {
  const openApi = await app.inject(`${API_PREFIX}/openapi.json`);
  return toSwaggerTwo(openApi.json(), API_PREFIX);
}
