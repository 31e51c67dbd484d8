import swagger from '@fastify/swagger';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import type { App } from './types.ts';

/** What the OpenAPI document says of the service as a whole. */
export interface ApiDescription {
  title: string;
  description: string;
  version: string;
  /** Path of the document; the default is `/openapi.json`. */
  path?: string;
}

/** Serves the OpenAPI 3.1 document made from the schemas of all routes added from now on. */
export async function serveOpenApi(app: App, api: ApiDescription): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: api.title,
        description: api.description,
        version: api.version,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    },
    transform: jsonSchemaTransform,
  });
  app.get(api.path ?? '/openapi.json', { schema: { hide: true } }, () => app.swagger());
}
