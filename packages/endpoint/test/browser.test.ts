import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium, skipWithout } from '@croft/testing';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { buildPackage } from '../build.ts';
import { calls } from './support/calls.ts';
import { startEchoServer } from './support/echo-server.ts';

test('every call of a user works in Chromium, on a page that allows nothing but its own script', async (context) => {
  const executablePath = findChromium() ?? skipWithout(context, 'chromium');
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'croft-endpoint-'));
  stack.defer(() => rmSync(folder, { recursive: true }));

  const server = await startEchoServer({
    '/': ['text/html', '<!doctype html><title>calls</title><script src="/page.js"></script>'],
    '/page.js': ['text/javascript', await bundlePage(folder)],
    '/favicon.ico': ['image/x-icon', ''],
  });
  stack.defer(() => server.stop());

  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  stack.defer(() => browser.close());
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(server.base);
  const results = await page.evaluate('results');

  expect(complaints).toEqual([]);
  for (const [name, { wanted }] of Object.entries(calls)) {
    expect(results, name).toHaveProperty([name], wanted);
  }
  // The page would have complained.
  await page.addScriptTag({ content: 'void 0' }).catch(() => {});
  await expect.poll(() => complaints.join()).toContain('script-src-elem');
});

// As a user would: the calls are a module of a project that has the built package installed.
async function bundlePage(folder: string): Promise<string> {
  buildPackage(join(folder, 'node_modules/@croft/endpoint'));
  const calls = join(folder, 'calls.js');
  const options = { bundle: true, platform: 'browser', format: 'esm', target: 'es2022' } as const;
  await build({
    ...options,
    entryPoints: [join(import.meta.dirname, 'support/calls.ts')],
    external: ['@croft/endpoint'],
    outfile: calls,
  });
  const contents = `
    import { makeCalls } from './calls.js';
    addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective));
    globalThis.results = makeCalls(location.origin);`;
  const { outputFiles } = await build({
    ...options,
    format: 'iife',
    stdin: { contents, resolveDir: folder },
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
