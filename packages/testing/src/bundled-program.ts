import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDER = join(ROOT, 'node_modules/.cache/test-programs');
/** They have parts that are no JavaScript, or tests reach into the one copy that everybody loads. */
const APART = ['@napi-rs/*', '@node-rs/*', 'pg', 'pg-native'];

/**
 * One file of a program and all that it imports, which Node has compiled before: what a test starts and kills some hundred times
 * is ready with less than half of the processor's time, as most of it goes to finding and linking files. The program says
 * `flushCompileCache()` when it has done what every start does.
 * @param program its TypeScript file, which is what it is told to be wherever it asks
 * @returns what to start instead
 */
export function bundledProgram(program: string): Promise<string> {
  const known = bundled.get(program) ?? bundle(program);
  bundled.set(program, known);
  return known;
}

const bundled = new Map<string, Promise<string>>();

async function bundle(program: string): Promise<string> {
  const {
    outputFiles: [output],
  } = await build({
    entryPoints: [program],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: `node${process.versions.node}`,
    external: APART,
    // What was written for `require` still asks for modules of Node.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`,
    },
    plugins: [inPlace],
    logLevel: 'silent',
  });
  await mkdir(FOLDER, { recursive: true });
  const name = relative(ROOT, program).replaceAll('/', '-').replace(/\.ts$/, '');
  const whole = join(FOLDER, `${name}-whole.mjs`);
  await replace(whole, output?.text ?? '');
  const start = join(FOLDER, `${name}.mjs`);
  await replace(
    start,
    [
      `import { enableCompileCache } from 'node:module';`,
      `enableCompileCache(${JSON.stringify(join(FOLDER, 'compiled'))});`,
      `await import(${JSON.stringify(pathToFileURL(whole).href)});`,
      '',
    ].join('\n'),
  );
  return start;
}

/** Other workers make the same, and may be about to start it. */
async function replace(file: string, content: string): Promise<void> {
  const made = `${file}.${process.pid}`;
  await writeFile(made, content);
  await rename(made, file);
}

/** Files that lie beside a module are still found from where the module was. */
const inPlace: Plugin = {
  name: 'in-place',
  setup(building) {
    building.onLoad({ filter: /\.[cm]?[jt]s$/ }, async ({ path }) => {
      const url = JSON.stringify(pathToFileURL(path).href);
      const folder = JSON.stringify(dirname(path));
      const text = (await readFile(path, 'utf8'))
        .replaceAll('import.meta.url', url)
        .replaceAll('import.meta.dirname', folder)
        .replaceAll('import.meta.filename', JSON.stringify(path));
      const contents = path.includes('/node_modules/') ? text.replaceAll('__dirname', folder) : text;
      return { contents, loader: path.endsWith('ts') ? 'ts' : 'js' };
    });
  },
};
