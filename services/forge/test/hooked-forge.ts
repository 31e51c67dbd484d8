import { beforeAll, beforeEach, expect } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { startReceiver } from './receiver.ts';

/** What hooks of these tests sign with. */
export const SECRET = 'hush';

/** A forge with one person, ada, whose hooks reach a receiver on this machine, which is empty before each test. */
export async function useHookedForge() {
  const scene = useForge({
    environment: { FORGE_WEBHOOK_ALLOWED_HOSTS: 'loopback', FORGE_WEBHOOK_TIMEOUT: '1s' },
  });
  const receiver = await startReceiver();
  let ada: Person;
  beforeAll(() => {
    ada = scene.person('ada');
  });
  beforeEach(() => {
    receiver.clear();
    receiver.answer = (_delivery, response) => response.end('thanks');
  });

  /** Gives a repository of ada's a hook. @returns its path */
  async function hookUp(
    repository: string,
    events: string[],
    more: object = {},
    config: object = {},
  ): Promise<string> {
    const path = `/repos/ada/${repository}/hooks`;
    const { status, body } = await ada.call('POST', path, {
      type: 'gitea',
      config: { url: receiver.url, content_type: 'json', secret: SECRET, ...config },
      events,
      active: true,
      ...more,
    });
    expect(status).toBe(201);
    return `${path}/${body.id}`;
  }
  return { scene, receiver, hookUp, person: () => ada };
}
