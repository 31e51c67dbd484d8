import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

// oxlint-disable-next-line node/no-process-env -- what the machine has
const { PATH = '' } = process.env;

/** The path of Debian's or somebody else's Chromium. */
export function findChromium(): string | undefined {
  const folders = [...PATH.split(delimiter), '/usr/local/bin', '/usr/bin'];
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** An application on an origin of its own, and the browser people open it with. */
export interface Application extends AsyncDisposable {
  origin: string;
  /** Somebody's browser, with a storage of its own. */
  person(): Promise<BrowserContext>;
  /** What pages logged, except what a test provokes on purpose. */
  complaints: string[];
}

/** Serves the bundle of `chromium-page.ts` on every path. */
export async function startApplication(executablePath: string): Promise<Application> {
  const script = await bundle();
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? script : '<!doctype html><title>app</title><script src="/page.js"></script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const complaints: string[] = [];
  return {
    // A name and not an address: passkeys are for names.
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    complaints,
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

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'chromium-page.ts')],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
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
