/**
 * Makes the folder that is published: `npm run build -w @croft/endpoint` into dist/endpoint, or `-- <folder>` into one
 * of your own. The modules stay apart as they are in src/, only their types are gone: a bundler leaves out what is not
 * imported, and a stack trace names the file.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const here = import.meta.dirname;
const root = join(here, '../..');

/** Builds the package into a folder that is empty or not there yet. */
export function buildPackage(folder: string): void {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);

  const own = readManifest(here);
  const sources = own.exports as Record<string, string>;
  const built = Object.entries(sources).map(([name, source]) => {
    const stem = source.replace('./src/', './dist/').replace(/\.ts$/, '');
    return [name, { types: `${stem}.d.ts`, default: `${stem}.js` }] as const;
  });

  compile(Object.values(sources), join(folder, 'dist'));
  for (const extension of ['.js', '.d.ts']) {
    removeUnreached(
      join(folder, 'dist'),
      extension,
      built.map(([, { types }]) => join(folder, types.replace('.d.ts', extension))),
    );
  }

  const documents = ['README.md', 'CHANGELOG.md', 'DIFFERENCES.md'];
  for (const document of documents) cpSync(join(here, document), join(folder, document));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));

  const { name, version, description, license, type, sideEffects } = own;
  const { engines } = readManifest(root);
  const [, { types, default: main }] = built[0] as (typeof built)[number];
  const manifest = {
    name,
    version,
    description,
    license,
    type,
    sideEffects,
    engines,
    // For tools that know no `exports`
    main,
    types,
    exports: Object.fromEntries(built),
    files: ['dist', ...documents],
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

function readManifest(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
}

// Against the libraries of the language and of browsers alone: what only Node has does not compile. Of what is newer than
// 2022 there is `toWellFormed` alone.
function compile(sources: string[], folder: string): void {
  const options =
    '--ignoreConfig --strict --verbatimModuleSyntax --declaration --target es2022 --lib es2022,es2024.string,dom,dom.iterable ' +
    '--module nodenext --rewriteRelativeImportExtensions --rootDir src';
  execFileSync(
    join(root, 'node_modules/.bin/tsc'),
    [...options.split(' '), '--types', '', '--outDir', folder, ...sources],
    { cwd: here, stdio: 'inherit' },
  );
  // In declarations the compiler leaves the extensions alone.
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.d.ts'))) {
    const file = join(folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/(?<=["']\.[^"']*)\.ts(?=["'])/g, '.js'));
  }
}

// Declarations of internal modules, and modules that held nothing but types
function removeUnreached(folder: string, extension: string, entries: string[]): void {
  const reached = new Set(entries);
  for (const file of reached) {
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/["'](\.\.?\/[^"']+)\.js["']/g)) {
      reached.add(join(dirname(file), `${path}${extension}`));
    }
  }
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (name.endsWith(extension) && !reached.has(file)) rmSync(file);
  }
}

if (import.meta.main) {
  const [given] = process.argv.slice(2);
  // npm runs a script in the folder of its package, and tells where it was asked to.
  // oxlint-disable-next-line node/no-process-env -- nothing else tells
  const from = process.env['INIT_CWD'] ?? '.';
  const folder = given === undefined ? join(root, 'dist/endpoint') : resolve(from, given);
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
  buildPackage(folder);
  process.stdout.write(`${folder}: check it with npm pack, publish it with npm publish\n`);
}
