import { beforeAll, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { startReceiver } from './receiver.ts';

// Nothing is allowed here: hooks reach the public internet only.
const scene = useForge();
const inner = await startReceiver();

let mallory: Person;
beforeAll(() => {
  mallory = scene.person('mallory');
});

it.each([
  '127.0.0.1',
  'localhost',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '0.0.0.0',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '169.254.169.254',
  'LOCALHOST.',
])('a hook for %s reaches nobody', async (host) => {
  const name = `r${Math.random().toString(36).slice(2)}`;
  await mallory.call('POST', '/user/repos', { name });
  const path = `/repos/mallory/${name}/hooks`;
  const made = await mallory.call('POST', path, {
    type: 'gitea',
    config: { url: `http://${host}:${inner.port}/in`, content_type: 'json' },
    events: ['issues'],
    active: true,
  });
  expect(made.status).toBe(201);
  await mallory.call('POST', `/repos/mallory/${name}/issues`, { title: 'x' });
  await expect
    .poll(async () => (await mallory.call('GET', `${path}/${made.body.id}/deliveries`)).items, {
      timeout: 10_000,
    })
    .toMatchObject([
      {
        attempts: 1,
        response: null,
        error: expect.stringMatching(/is not at a public address|cannot be reached/),
      },
    ]);
  expect(inner.deliveries).toEqual([]);
});
