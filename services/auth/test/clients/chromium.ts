import { once } from 'node:events';
import { createServer } from 'node:http';
import type { SourceMapPayload } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** An application on an origin of its own, and the browser people open it with. */
export interface Application extends AsyncDisposable {
  origin: string;
  /** Somebody's browser, with a storage of its own. */
  person(): Promise<BrowserContext>;
  /** Where the lines of `/cases` come from. */
  casesMap: SourceMapPayload;
  /** The errors pages logged. */
  complaints: string[];
}

/** Serves `chromium-cases.ts` at `/cases`, a page without a script at `/signed-in` and `chromium-page.ts` everywhere else. */
export async function startApplication(executablePath: string): Promise<Application> {
  const scripts = await bundle('chromium-page', 'chromium-cases');
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    const script = scripts.get(pathname);
    response.writeHead(200, { 'content-type': script === undefined ? 'text/html' : 'text/javascript' });
    response.end(script ?? `<!doctype html><title>app</title>${scriptOf(pathname)}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const complaints: string[] = [];
  return {
    // A name and not an address: passkeys are for names.
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    complaints,
    casesMap: JSON.parse(scripts.get('/chromium-cases.js.map') ?? '') as SourceMapPayload,
    async person() {
      const context = await browser.newContext();
      context.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      context.on('weberror', (error) => complaints.push(String(error.error())));
      return context;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function scriptOf(page: string): string {
  if (page === '/signed-in') return '';
  return `<script src="/chromium-${page === '/cases' ? 'cases' : 'page'}.js"></script>`;
}

/** Scripts, and where their lines come from, by the path they are served at. */
async function bundle(...names: string[]): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    entryPoints: names.map((name) => join(import.meta.dirname, `${name}.ts`)),
    outdir: '/',
    bundle: true,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    sourcemap: 'external',
    write: false,
  });
  return new Map(outputFiles.map(({ path, text }) => [path, text]));
}

/** The headers of requests to an origin that a browser asks leave for, lower-case, with the methods it asked for. */
export function watchRequests(page: Page, origin: string): Promise<{ method: string; headers: string[] }>[] {
  const seen: Promise<{ method: string; headers: string[] }>[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) return;
    const names = request.allHeaders().then((all) => Object.keys(all));
    seen.push(names.then((headers) => ({ method: request.method(), headers })));
  });
  return seen;
}
