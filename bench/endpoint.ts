import { endpoint } from '@croft/endpoint';
import { endpoint as reference } from '@octokit/endpoint';
import { type Figure, median } from './figure.ts';

type Builder = typeof endpoint & typeof reference;
type Case = (builder: Builder) => (round: number) => unknown;

const repository = { owner: 'octocat', repo: 'hello-world' };
const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`parameter_${i}`, `value ${i}`]));
const routes = [
  'issues',
  'pulls',
  'labels',
  'milestones',
  'forks',
  'branches',
  'tags',
  'releases',
  'hooks',
  'keys',
  'teams',
  'topics',
  'wiki',
];
const cold = Array.from({ length: 20_000 }, (_, i) => `GET /repos/{owner}/{repo}/cold/${i}/{item}`);

const cases: Record<string, Case> = {
  'GET with five options': (e) => () =>
    e('GET /repos/{owner}/{repo}/issues', { ...repository, state: 'open', labels: 'bug', page: 2 }),
  'GET /': (e) => () => e('GET /'),
  'colon placeholders': (e) => () =>
    e('GET /repos/:owner/:repo/issues', { ...repository, state: 'open', page: 2 }),
  'options form': (e) => () => e({ method: 'GET', url: '/orgs/{org}/repos', org: 'croft' }),
  'POST with body': (e) => () =>
    e('POST /repos/{owner}/{repo}/issues', {
      ...repository,
      title: 'Found a bug',
      body: 'It does not work',
      assignees: ['a', 'b'],
    }),
  'PUT without body': (e) => () => e('PUT /user/starred/{owner}/{repo}', repository),
  'query beside data': (e) => () =>
    e('POST /repos/{owner}/{repo}/releases/1/assets{?name,label}', {
      ...repository,
      name: 'example.zip',
      label: 'short description',
      headers: { 'content-type': 'text/plain' },
      data: 'Hello, world!',
    }),
  'encoded values': (e) => () =>
    e('GET /repos/{owner}/{repo}/contents/{path}', {
      ...repository,
      path: 'src/ä ö/file name.ts',
      ref: 'feature/a&b',
    }),
  '20 query parameters': (e) => () => e('GET /search', twenty),
  'media type format': (e) => () =>
    e('GET /repos/{owner}/{repo}/pulls/{number}', {
      ...repository,
      number: 42,
      mediaType: { format: 'diff' },
    }),
  'GraphQL with previews': (e) => () =>
    e('POST /graphql', { query: '{ viewer { login } }', mediaType: { previews: ['antiope', 'testing'] } }),
  'header per call': (e) => () =>
    e('GET /orgs/{org}', {
      org: 'croft',
      headers: { Authorization: 'token 0000000000000000000000000000000000000001' },
    }),
  '13 routes in turn': (e) => {
    const thirteen = routes.map((name) => `GET /repos/{owner}/{repo}/${name}`);
    return (round) => e(thirteen[round % 13] as string, { ...repository, page: 2 });
  },
  '20000 routes in turn': (e) => (round) => e(cold[round % 20_000] as string, { ...repository, item: 7 }),
  merge: (e) => () => e.merge('GET /repos/{owner}/{repo}/issues', { ...repository, state: 'open' }),
  'parse GET': (e) => {
    const merged = e.merge('GET /repos/{owner}/{repo}/issues', { ...repository, state: 'open' });
    return () => e.parse(merged as never);
  },
  'parse POST': (e) => {
    const merged = e.merge('POST /repos/{owner}/{repo}/issues', { ...repository, title: 'Found a bug' });
    return () => e.parse(merged as never);
  },
  'derived builder': (e) => {
    const derived = e.defaults({ owner: 'octocat', headers: { authorization: 'token 1' } });
    return () => derived('GET /repos/{owner}/{repo}/issues', { repo: 'hello-world', state: 'open' });
  },
  'defaults twice and a call': (e) => () =>
    e.defaults({ owner: 'octocat' }).defaults({ repo: 'hello-world' })('GET /repos/{owner}/{repo}'),
};

// Nanoseconds of one call, from `calls` in a row.
function time(call: (round: number) => unknown, calls: number): number {
  const start = process.hrtime.bigint();
  for (let round = 0; round < calls; round++) call(round);
  return Number(process.hrtime.bigint() - start) / calls;
}

/** Calls per second of our builder against @octokit/endpoint, alternating in one process; ratios above 1 are faster. */
export async function* figures(): AsyncGenerator<Figure> {
  const measured = Object.entries(cases).map(([figure, make]) => ({
    figure,
    ours: make(endpoint as Builder),
    theirs: make(reference as unknown as Builder),
    times: { ours: [] as number[], theirs: [] as number[] },
  }));
  for (const { ours, theirs } of measured) {
    time(ours, 20_000);
    time(theirs, 20_000);
  }
  for (let round = 0; round < 15; round++) {
    for (const { ours, theirs, times } of measured) {
      times.ours.push(time(ours, 5_000));
      times.theirs.push(time(theirs, 5_000));
    }
  }
  const ratios: number[] = [];
  for (const { figure, times } of measured) {
    const ours = Math.round(1e9 / median(times.ours));
    const theirs = Math.round(1e9 / median(times.theirs));
    ratios.push(ours / theirs);
    yield { bench: 'endpoint', figure, ratio: ours / theirs, ours, theirs, unit: 'calls/s', limit: '≥ 1.3' };
  }
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  yield {
    bench: 'endpoint',
    figure: 'geometric mean',
    ratio: mean,
    ours: mean,
    theirs: 1,
    unit: 'times',
    limit: '≥ 4',
  };
}
