import { endpoint } from '@croft/endpoint';
import { expect, test } from 'vitest';
import { forgePaths, forgeRoutes } from '../scripts/forge-routes.ts';

/** Names of the parameters that the types give each route. */
async function namesByRoute(): Promise<Map<string, string[]>> {
  const blocks = (await forgeRoutes()).matchAll(/^ {2}'(.*)': \{\n?((?: {4}.*\n)*) *\};$/gm);
  return new Map(
    Array.from(blocks, ([, route = '', members = '']) => [
      route,
      Array.from(members.matchAll(/^ {4}'?([\w-]+)'?\??:/gm), ([, name = '']) => name),
    ]),
  );
}

test("what the types of the forge's routes take for the query is sent in the query", async () => {
  const routes = await namesByRoute();
  const operations = Object.entries(await forgePaths()).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      route: `${method.toUpperCase()} ${path.replace('/api/v1', '')}`,
      query: parameters.filter((one) => one.in === 'query').map(({ name }) => name),
      body: Object.keys(requestBody?.content['application/json']?.schema.properties ?? {}),
    })),
  );
  const misplaced: string[] = [];
  for (const { route, query, body } of operations) {
    const spellings = [...routes.keys()].filter((key) => key === route || key.startsWith(`${route}{?`));
    expect(spellings, route).toContain(route);
    const taken = new Set<string>();
    for (const spelling of spellings) {
      const names = routes.get(spelling) ?? [];
      const request = endpoint(spelling, Object.fromEntries(names.map((name) => [name, [1, 2]])));
      const { searchParams } = new URL(request.url);
      for (const name of query.filter((one) => names.includes(one))) {
        if (searchParams.has(name)) taken.add(name);
        else if (!body.includes(name)) misplaced.push(`${name} of ${spelling}`);
      }
    }
    misplaced.push(
      ...query.filter((name) => !taken.has(name)).map((name) => `no way for ${name} of ${route}`),
    );
  }
  expect(misplaced).toEqual([]);
  expect(operations.filter(({ route, query }) => !route.startsWith('GET ') && query.length > 0)).not.toEqual(
    [],
  );
});
