import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findChromium, skipWithout } from '@croft/testing';
import { chromium } from 'playwright-core';
import { expect, it } from 'vitest';
import { useForge } from './forge.ts';
import { oauthSteps } from './oauth-scene.ts';

const scene = useForge();
const steps = oauthSteps(scene);
const executablePath = findChromium();

/** A program that sends everybody on to another site of its own, as many do. */
async function openProgram(): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const { host = '', url = '/' } = { host: request.headers.host, url: request.url };
    if (host.startsWith('127.')) {
      const location = `http://localhost:${(server.address() as AddressInfo).port}${url}`;
      return response.writeHead(302, { location }).end();
    }
    return response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><h1>Welcome</h1>');
  });
  server.listen(0);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

it.for([
  ['Allow', 'code'],
  ['Do not allow', 'error'],
] as const)(
  'a browser takes %j to a program that redirects to another site',
  { timeout: 150_000 },
  async ([button, answer], context) => {
    if (executablePath === undefined) skipWithout(context, 'chromium');
    await using program = await openProgram();
    const ada = scene.person('ada');
    const redirectUri = `http://127.0.0.1:${program.port}/authorize`;
    const registered = await steps.program(ada, { redirect_uris: [redirectUri] });
    const query = new URLSearchParams(steps.question({ ...registered, redirectUri }));
    await using browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    const page = await browser.newPage();
    await page.goto(`${scene.address}/login/oauth/authorize?${query.toString()}`);
    await page.getByLabel('User name').fill('ada');
    await page.getByLabel('Password').fill(ada.token);
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.waitForURL(`http://localhost:${program.port}/**`, { timeout: 150_000 });
    expect(await page.getByRole('heading').textContent()).toBe('Welcome');
    expect([...new URL(page.url()).searchParams.keys()]).toContain(answer);
  },
);
