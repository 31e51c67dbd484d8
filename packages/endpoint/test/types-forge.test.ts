import { build } from 'esbuild';
import { expect, test } from 'vitest';

async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    // Inside the package, so that its own name resolves
    stdin: { contents, loader: 'ts', resolveDir: import.meta.dirname },
    bundle: true,
    // Names are shortened by how often each letter occurs, in types as well.
    minifySyntax: true,
    minifyWhitespace: true,
    format: 'esm',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

test("importing the forge's routes adds nothing to a program", async () => {
  const call = "console.log(forge('GET /repos/{owner}/{repo}', { owner: 'a', repo: 'b' }))";
  const plain = await bundle(`import { endpoint } from '@croft/endpoint';
    const forge = endpoint;
    ${call}`);
  const typed = await bundle(`import { type Endpoint, endpoint } from '@croft/endpoint';
    import type { ForgeRoutes } from '@croft/endpoint/forge';
    const forge: Endpoint<ForgeRoutes> = endpoint;
    ${call}`);
  expect(plain).toContain('GET /repos');
  expect(typed === plain).toBe(true);
});

test('and there is nothing in it at run time', async () => {
  expect(Object.keys(await import('@croft/endpoint/forge'))).toEqual([]);
  expect((await bundle("import '@croft/endpoint/forge'")).trim()).toBe('');
});
