import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RouteOptions } from 'fastify';
import type { App } from './types.ts';

/** What the OpenAPI document says of the service as a whole. */
export interface ApiDescription {
  title: string;
  description: string;
  version: string;
  /** Path of the document; the default is `/openapi.json`. */
  path?: string;
  /** Path before all paths, where a proxy serves the service below one; asked for when the document is made. */
  basePath?: () => string;
  /** Schemas of what every route may answer, by status. */
  everywhere?: Readonly<Record<number, unknown>>;
}

/**
 * Serves the OpenAPI 3.1 document made from the schemas of all routes added from now on. It is made when somebody
 * asks for it the first time: what makes it is a quarter of all the code a start would have to load.
 */
export function serveOpenApi(app: App, api: ApiDescription): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    if (route.schema !== undefined && route.schema.hide !== true) routes.push(route);
  });
  let document: Promise<string> | undefined;
  // However long it takes under load: it is made once for all who ask.
  const options = { schema: { hide: true }, config: { timeoutMs: 0 } };
  app.get(api.path ?? '/openapi.json', options, async (_request, reply) => {
    document ??= describe(api, routes);
    return reply.type('application/json; charset=utf-8').send(await document);
  });
}

/** Hundreds of routes take more than a second of work, so each has a turn of its own, and others are served in between. */
async function describe(api: ApiDescription, routes: readonly RouteOptions[]): Promise<string> {
  const { paths, ...whole } = await describeRoutes(api, []);
  for (const route of routes) {
    await nextTurn();
    const described = await describeRoutes(api, [route]);
    for (const [path, operations] of Object.entries(described.paths)) {
      paths[path] = { ...paths[path], ...operations };
    }
  }
  const basePath = api.basePath?.() ?? '';
  return JSON.stringify({ ...whole, ...(basePath === '' ? {} : { servers: [{ url: basePath }] }), paths });
}

/** Registers routes once more, on an application that only describes. */
async function describeRoutes(api: ApiDescription, routes: readonly RouteOptions[]): Promise<Document> {
  const [{ default: Fastify }, { default: swagger }, { jsonSchemaTransform }] = await Promise.all([
    import('fastify'),
    import('@fastify/swagger'),
    import('fastify-type-provider-zod'),
  ]);
  const scribe = Fastify({ exposeHeadRoutes: false });
  scribe.setValidatorCompiler(() => () => true);
  scribe.setSerializerCompiler(() => JSON.stringify);
  await scribe.register(swagger, {
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
  const { everywhere } = api;
  for (const { method, url, schema = {} } of routes) {
    const response = { ...everywhere, ...(schema.response as object | undefined) };
    const whole = everywhere === undefined ? schema : { ...schema, response };
    scribe.route({ method, url, schema: whole, handler: () => {} });
  }
  await scribe.ready();
  return nameRests(scribe.swagger() as Partial<Document>);
}

interface Document {
  paths: Record<string, Record<string, { parameters?: { name: string }[] }>>;
}

/**
 * The rest of a path, `*` in a route, has no name; clients make theirs of the document, and need one: `path`, or `rest` where
 * something in the query is called that.
 */
function nameRests(document: Partial<Document>): Document {
  const paths = Object.entries(document.paths ?? {}).map(([path, operations]) => {
    const parameters = Object.values(operations).flatMap((operation) => operation.parameters ?? []);
    const rest = parameters.some(({ name }) => name === 'path') ? 'rest' : 'path';
    for (const parameter of parameters) if (parameter.name === '*') parameter.name = rest;
    return [path.replace('{*}', `{${rest}}`), operations] as const;
  });
  return { ...document, paths: Object.fromEntries(paths) };
}
