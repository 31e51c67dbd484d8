import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

const HEAD = `import { type Endpoint, endpoint } from '@croft/endpoint';
import type { ForgeRoutes } from '@croft/endpoint/forge';

export const forge: Endpoint<ForgeRoutes> = endpoint;
`;

/** Each with a call that is right and one that is wrong, of a literal route; `#` is a number. */
const LITERAL = [
  ["'GET /repos/{owner}/{repo}/n#/{index}', { owner: 'a', repo: 'b', index: #", ", state: 'open'", 'owner: '],
  ["'POST /repos/:owner/:repo/n#', { owner: 'a', repo: 'b'", ", title: 'c', labels: [1]", 'repo: '],
  ["'PUT /n#/{a}/{b}/{c}/{d}{?e,f}', { a: 1, b: 2, c: 3, d: 4", ', e: null', 'd: '],
  ["'GET https://h.example:8080/n#/{+path}{?page,labels*}', { path: 'a/b'", ', labels: [1]', 'path: '],
  ["'DELETE /orgs/{org}/n#/{user}', { org: 'a', user: 'b'", '', 'org: '],
] as const;

/** The same, of known routes. */
const KNOWN = [
  ["'GET /repos/{owner}/{repo}/issues', { owner: 'a', repo: 'b', page: #", ", state: 'open'", 'state: '],
  ["'POST /repos/{owner}/{repo}/issues', { owner: 'a', repo: 'b'", ", title: 'n#', labels: [1]", 'title: '],
  ["'GET /repos/{owner}/{repo}/pulls/{index}', { owner: 'a', repo: 'b', index: #", '', 'index: '],
  [
    "'PATCH /repos/{owner}/{repo}/pulls/{index}', { owner: 'a', repo: 'b', index: #",
    ', base: null',
    'base: ',
  ],
  [
    "'POST /repos/{owner}/{repo}/pulls', { owner: 'a', repo: 'b'",
    ", head: 'n#', base: 'c', title: 'd'",
    'head: ',
  ],
  ["'DELETE /users/{username}/tokens/{token}', { username: 'n#', token: 1", '', 'token: '],
] as const;

/** A module with 200 calls, half of them of the forge's routes; wrong ones have a misspelt name each. */
export function moduleOfCalls(areRight: boolean): string {
  const lines = Array.from({ length: 200 }, (_, i) => {
    const [callee, cases] = i % 2 === 0 ? (['endpoint', LITERAL] as const) : (['forge', KNOWN] as const);
    const [begin, more, name] = cases[(i >> 1) % cases.length] as (typeof cases)[number];
    const call = `${callee}(${begin}${more} });`.replaceAll('#', String(i));
    return areRight ? call : call.replace(new RegExp(`\\b${name}`), `x${name}`);
  });
  return `${HEAD}${lines.join('\n')}\n`;
}

/** The same module without a call. */
export const moduleWithoutCalls = HEAD;

/** A folder in which a module finds the packages of this repository and is checked as strictly as they are. */
export class TypeProject {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(modules: Readonly<Record<string, string>>): Promise<TypeProject> {
    const folder = await mkdtemp(join(tmpdir(), 'croft-types-'));
    const options = { types: ['node'], noUnusedLocals: false };
    const files = {
      'package.json': '{ "type": "module" }',
      'tsconfig.json': JSON.stringify({
        extends: join(root, 'tsconfig.json'),
        compilerOptions: options,
        include: ['*.ts'],
        exclude: [],
      }),
      ...modules,
    };
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    return new TypeProject(folder);
  }

  /** The errors the compiler finds, one a line, with what belongs to each left out. */
  check(): Promise<string[]> {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const args = [compiler, '--noEmit', '--pretty', 'false', '--project', this.#folder];
    return new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: this.#folder }, (error, out, errors) => {
        const lines = `${out}${errors}`.split('\n').filter((line) => line !== '' && !line.startsWith(' '));
        resolve(error !== null && lines.length === 0 ? [error.message] : lines);
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }
}
