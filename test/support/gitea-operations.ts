import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// What the client gitea-js can do, read from its source text: it has no list of it.

/** An operation of the client: `GET /repos/{owner}/{repo}`, and how the client calls it: `repos.repoGet`. */
export interface Operation {
  method: string;
  path: string;
  name: string;
}

/** Parts of the reference that are no part of the forge: they neither count as shared nor as missing. */
const ELSEWHERE =
  /\/(activitypub|packages|actions|wiki|push_mirrors|push_mirrors-sync|mirror-sync|hooks\/git|cron|unadopted|runners|badges)(\/|$)/;
/** Parameters that may have slashes in them. */
const LONG = /\{(filepath|archive|basehead|branch|tag|name|ref|head)\}$/;

/** All operations of the client that belong to the forge's world. */
export function clientOperations(): Operation[] {
  const source = readFileSync(createRequire(import.meta.url).resolve('gitea-js'), 'utf8');
  const found: Operation[] = [];
  let group = '';
  const parts = /^ {4}this\.(\w+) = \{$|@request (\w+):(\S+)\n[\s\S]*?\*\/\s*(\w+): \(/gm;
  for (const [, opened, method = '', path = '', name] of source.matchAll(parts)) {
    if (opened !== undefined) group = opened;
    else if (!ELSEWHERE.test(path)) found.push({ method, path, name: `${group}.${name}` });
  }
  return found;
}

/** Pull requests, their reviews and merges. */
export const isAboutPulls = ({ path }: Operation) => /\/pulls?(\/|$|\{)/.test(path);

/** Who follows whom, and programs that people sign in to. */
export const isAboutFollows = ({ path }: Operation) =>
  /\/(followers|following|applications)(\/|$)/.test(path);

/** Operations by whether a server whose OpenAPI document this is has them. */
export function compareWith(document: { paths: Record<string, object> }, operations: readonly Operation[]) {
  const anyName = (path: string) => path.replaceAll(/\{[^}]*\}/g, '{}').replace(/\*$/, '{}');
  const served = new Set(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${anyName(path.replace('/api/v1', ''))}`),
    ),
  );
  const isServed = ({ method, path }: Operation) => served.has(`${method} ${anyName(path)}`);
  return {
    shared: operations.filter(isServed),
    missing: operations.filter((operation) => !isServed(operation)),
  };
}

/** Finds the operation a request belongs to. */
export function operationFinder(operations: readonly Operation[]) {
  const patterns = operations.map((operation) => {
    const escaped = operation.path
      .replaceAll(/[.]/g, '\\.')
      .replace(LONG, '.+')
      .replaceAll(/\{[^}]*\}/g, '[^/]+');
    const literal = operation.path.replaceAll(/\{[^}]*\}/g, '').length;
    return { operation, pattern: new RegExp(`^${escaped}$`), literal };
  });
  patterns.sort((a, b) => b.literal - a.literal);
  return (method: string, path: string): Operation | undefined =>
    patterns.find(({ operation, pattern }) => operation.method === method && pattern.test(path))?.operation;
}
