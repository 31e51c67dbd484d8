import { ENDPOINTS } from '../src/endpoints/index.ts';

/** What every endpoint may answer besides what it declares: it is the same for all of them. */
const EVERYWHERE = new Set([307, 401, 403, 413, 500, 503, 504]);
/** Further refusals that older endpoints do not declare one by one. */
const REFUSALS = new Set([400, 404, 405, 422, 423]);

const routes = ENDPOINTS.map(([method, path, { answers }]) => ({
  method,
  name: `${method} ${path}`,
  pattern: patternOf(path),
  // The more of a path is fixed, the earlier it counts, as in the server's own router.
  fixed: path.replace(/:[^/]*|\*/g, '').length,
  answers,
})).sort((a, b) => b.fixed - a.fixed);

/** `/repos/:owner/:repo/pulls/:index(^\\d+).:type(^(?:diff|patch)$)` as an expression for whole paths. */
function patternOf(path: string): RegExp {
  const parts = path.split(/(:\w+(?:\(\^[^/]*?\$?\)(?=\.|\/|$))?|\*)/);
  const text = parts.map((part) => {
    if (part === '*') return '.+';
    if (!part.startsWith(':')) return part.replaceAll('.', '\\.');
    const [, own] = /\(\^(.*?)\$?\)$/.exec(part) ?? [];
    return own ?? '[^/]+';
  });
  return new RegExp(`^${text.join('')}$`);
}

/**
 * Holds an answer of the API against what its endpoint declares, which is what the OpenAPI document says: status and
 * every member of the body.
 * @throws Error that names what differs
 */
export function checkDeclared(method: string, path: string, status: number, body: unknown): void {
  const route = routes.find((one) => one.method === method && one.pattern.test(path));
  if (route === undefined) return;
  const schema = route.answers[status];
  if (schema === undefined) {
    const isTold = EVERYWHERE.has(status) || (REFUSALS.has(status) && !route.name.includes('/pulls'));
    if (!isTold) throw new Error(`${route.name} does not declare the status ${status}`);
    return;
  }
  if (body === undefined) return;
  const read = schema.safeParse(body);
  if (!read.success)
    throw new Error(`${route.name} answered ${status} with another body: ${read.error.message}`);
  const undeclared = status < 300 ? extraMembers(body, read.data, '') : [];
  if (undeclared.length > 0) throw new Error(`${route.name} does not declare ${undeclared.join(', ')}`);
}

/** Members that reading with the schema dropped. */
function extraMembers(given: unknown, read: unknown, place: string): string[] {
  if (Array.isArray(given) && Array.isArray(read))
    return given.slice(0, 3).flatMap((one, index) => extraMembers(one, read[index], `${place}[]`));
  if (typeof given !== 'object' || given === null || typeof read !== 'object' || read === null) return [];
  return Object.entries(given).flatMap(([key, value]) =>
    key in read
      ? extraMembers(value, (read as Record<string, unknown>)[key], `${place}.${key}`)
      : [`${place}.${key}`],
  );
}
