import { beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../src/endpoints/index.ts';
import { request, useForge } from './forge.ts';
import {
  areaOf,
  expected,
  isPlaced,
  type Outcome,
  PERSONAS,
  type Persona,
  PLACES,
  type PlaceName,
} from './permission-model.ts';
import { buildMatrix, type Matrix, type Things } from './permission-scene.ts';
import { type Row, TABLE, USUAL_PATH } from './permission-table.ts';

// Every route × everybody × every place: served or refused as the model says, and whatever was refused or only read left
// every table as it was. What changes something is done by the one with the fewest rights who may, and put back.

/** A route by the name of its row: without the expressions of its parameters. */
const nameOf = (method: string, path: string) =>
  `${method} ${path.replaceAll(/\(\^(?:[^()]|\([^()]*\))*\)/g, '')}`;
/** Routes that take forms are mounted apart from the list. */
const APART = [
  ['/repos/:owner/:repo/issues/:index/assets', 'issue'],
  ['/repos/:owner/:repo/issues/comments/:id/assets', 'issue'],
  ['/repos/:owner/:repo/releases/:release/assets', 'repository'],
] as const;
const ROUTES = [
  ...ENDPOINTS.map(([method, path, { area }]) => ({ name: nameOf(method, path), method, area })),
  ...APART.map(([path, area]) => ({ name: `POST ${path}`, method: 'POST', area })),
];
const UNTOUCHED = new Set<Outcome>([401, 403, 404, 405]);

const REFS = '/@org/thing.git/info/refs?service=git-';
/** Names and ids that nothing has. */
const NOTHING: Things = {
  org: 'nowhere',
  emptyOrg: 'nowhere',
  repository: 987654321,
  team: 987654321,
  thread: 987654321,
};

/** Who must not hear of private things, wherever he asks, and what nobody could tell of them without naming it. */
const UNAWARE: readonly Persona[] = ['stranger', 'leaked', 'anonymous'];
const UNKNOWN = /.{0,60}(hidden|secret\/(thing|gift)).{0,60}/;

interface Case {
  who: Persona;
  place: PlaceName;
  wanted: Outcome;
}

/** A thing's name or id for each `@word`, at any depth. */
function fill(value: unknown, things: Things, who: Persona): unknown {
  if (typeof value === 'string' && value.startsWith('@')) {
    if (value === '@me') return who in ME ? ME[who as keyof typeof ME] : who;
    const thing = things[value.slice(1)];
    if (thing === undefined) throw new Error(`nothing is called ${value}`);
    return thing;
  }
  if (Array.isArray(value)) return value.map((one) => fill(one, things, who));
  if (typeof value !== 'object' || value === null || value instanceof FormData) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, things, who)]));
}
const ME = { leaked: 'owner', narrow: 'owner', anonymous: 'stranger' };

function pathOf(template: string, row: Row, things: Things, who: Persona): string {
  const values = fill({ ...USUAL_PATH, ...row.path }, things, who) as Record<string, string | number>;
  return template.replaceAll(/:([a-z]+)|\*/gi, (parameter, name: string | undefined) => {
    const value = values[name ?? '*'];
    if (value === undefined) throw new Error(`${template}: no value for ${parameter}`);
    return encodeURIComponent(value).replaceAll('%2F', '/');
  });
}

const casesOf = ({ needs }: Row): Case[] =>
  (isPlaced(needs) ? PLACES : PLACES.slice(0, 1)).flatMap((place) =>
    PERSONAS.map((who) => ({ who, place, wanted: expected(needs, who, place) })),
  );

describe('every route', () => {
  it('has a row, and every row a route', () => {
    expect(Object.keys(TABLE).sort()).toEqual(ROUTES.map(({ name }) => name).sort());
  });

  it('belongs to its area of tokens', () => {
    const areas = ROUTES.map(({ name, area }) => `${name}: ${area}`);
    expect(areas).toEqual(ROUTES.map(({ name }) => `${name}: ${areaOf(name.split(' ')[1] ?? '')}`));
  });
});

describe('with anonymous reading', () => {
  const scene = useForge({ environment: { FORGE_REQUIRE_SIGNIN: 'false', FORGE_SIGNING_KEY: 'generate' } });
  let matrix: Matrix;
  beforeAll(async () => {
    matrix = await buildMatrix(scene);
  });

  type Route = (typeof ROUTES)[number];
  async function ask({ name, method }: Route, row: Row, who: Persona, things: Things) {
    const template = name.slice(method.length + 1);
    const path = `/api/v1${pathOf(template, row, things, who)}${row.query ?? ''}`;
    const answer = await matrix.ask(who, areaOf(template), method, path, fill(row.body, things, who));
    return { outcome: answer.status < 400 ? 'served' : answer.status, text: answer.text };
  }

  /** What is wrong with the answer of a case. */
  async function complaints(route: Route, row: Row, { who, place, wanted }: Case): Promise<string[]> {
    const things = matrix.things[place];
    const got = await ask(route, row, who, things);
    if (got.outcome !== wanted)
      return [`${who} in ${place}: ${wanted} expected, ${got.outcome} came: ${got.text.slice(0, 300)}`];
    const leak = UNAWARE.includes(who) && !row.needs.startsWith('be given') ? UNKNOWN.exec(got.text) : null;
    if (leak !== null) return [`${who} in ${place} is told of ${leak[0]}`];
    if (wanted !== 404) return [];
    // Not found because nobody may know of it, or because there is no such thing: that must look the same.
    const nothing = await ask(route, row, who, { ...things, ...NOTHING });
    const isSame = nothing.outcome === 404 && nothing.text === got.text;
    return isSame
      ? []
      : [`${who} in ${place}: ${got.text}, but of nothing ${nothing.outcome}: ${nothing.text}`];
  }

  it('notices what is wrong, and puts back what was changed', async () => {
    const route = ROUTES.find(({ name }) => name === 'PATCH /repos/:owner/:repo') as Route;
    const row: Row = { needs: 'administrate', body: { description: 'fresh' } };
    const wrong = { who: 'keeper', place: 'secret', wanted: 403 } as const;
    expect(await complaints(route, row, wrong)).toEqual([
      expect.stringContaining('403 expected, served came'),
    ]);
    expect(await matrix.changedTables()).toContain('repositories');
    await matrix.restore(false);
    expect(await matrix.changedTables()).toEqual([]);
    const seen = await matrix.ask('owner', 'repository', 'GET', '/api/v1/repos/search');
    expect(seen.text).toMatch(UNKNOWN);
  });

  it('has no route but these', async () => {
    const answer = await request(`${scene.address}/api/v1/openapi.json`, 'GET');
    const { paths } = answer.body as unknown as { paths: Record<string, object> };
    const anyName = (name: string) => name.replaceAll(/\{[^}]*\}|:[a-z]+|\*/gi, '{}');
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => anyName(`${method.toUpperCase()} ${path.replace('/api/v1', '')}`)),
    );
    expect([...new Set(served)].sort()).toEqual([...new Set(ROUTES.map(({ name }) => anyName(name)))].sort());
  });

  // Before the matrix: files that it removes stay gone from the disk.
  it.each([
    {
      what: 'files',
      path: '/attachments/@uuid',
      area: 'issue',
      needs: 'see issues',
      traces: ['attachments'],
    },
    {
      what: 'files of releases',
      path: '/attachments/@releaseUuid',
      area: 'repository',
      needs: 'see code',
      traces: ['attachments'],
    },
    {
      what: 'files as they are',
      path: '/@org/thing/raw/branch/main/README.md',
      area: 'repository',
      needs: 'see code',
      traces: [],
    },
    {
      what: 'archives',
      path: '/@org/thing/archive/main.zip',
      area: 'repository',
      needs: 'see code',
      traces: [],
    },
    { what: 'fetching', path: `${REFS}upload-pack`, area: 'repository', needs: 'see code', traces: [] },
    {
      what: 'pushing',
      path: `${REFS}receive-pack`,
      area: 'repository',
      needs: 'push for review',
      traces: [],
    },
  ] as const)('beside the API: $what', async ({ path, area, needs, traces }) => {
    const answers = casesOf({ needs }).map(async ({ who, place, wanted }) => {
      const things = matrix.things[place];
      const filled = path.replaceAll(/@([a-z]+)/gi, (_, word: string) => String(things[word]));
      const { status } = await matrix.ask(who, area, 'GET', filled);
      // git asks for a password only where it is told to: whoever is nobody yet might see it with one.
      const isAsked = path.startsWith(REFS) && who === 'anonymous' && wanted !== 'served';
      return [who, place, status === 200 ? 'served' : status, isAsked ? 401 : wanted];
    });
    const given = await Promise.all(answers);
    expect(given.filter(([, , got, wanted]) => got !== wanted)).toEqual([]);
    expect(await matrix.changedTables()).toEqual(traces);
    await matrix.restore(false);
  });

  it.each(ROUTES)('$name', async (route) => {
    const row = TABLE[route.name];
    if (row === undefined) throw new Error(`no row for ${route.name} in permission-table.ts`);
    const cases = casesOf(row);
    const changing = cases.filter(({ wanted }) => route.method !== 'GET' && !UNTOUCHED.has(wanted));
    const harmless = cases.filter((one) => !changing.includes(one));
    const wrong = (await Promise.all(harmless.map((one) => complaints(route, row, one)))).flat();
    wrong.push(...(await matrix.changedTables()).map((table) => `${table} changed`));
    if (wrong.length > 0) await matrix.restore(row.onDisk === true);
    for (const place of PLACES) {
      const allowed = changing.filter((one) => one.place === place);
      const least = allowed.slice(0, 1).concat(allowed.filter(({ who }) => who === 'leaked'));
      for (const one of new Set(least)) {
        wrong.push(...(await complaints(route, row, one)));
        await matrix.restore(row.onDisk === true);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('without anonymous reading', () => {
  const scene = useForge();

  it('nobody in particular gets anything but what needs nothing', async () => {
    const answers = await Promise.all(
      ROUTES.map(async ({ name, method }) => {
        const path = name.slice(method.length + 1).replaceAll(/:[a-z]+|\*/gi, 'x');
        const { status } = await request(`${scene.address}/api/v1${path}`, method);
        return [name, status];
      }),
    );
    const wanted = ROUTES.map(({ name }) => [
      name,
      TABLE[name]?.needs === 'nothing' ? expect.any(Number) : 401,
    ]);
    expect(answers).toEqual(wanted);
  });
});
