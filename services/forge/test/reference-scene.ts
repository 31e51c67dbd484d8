import { expect, vi } from 'vitest';
import type { Body, Person, Scene } from './forge.ts';

/** What tests of references do again and again. */
export interface ReferenceScene {
  /** Opens an issue, as ada unless somebody else is named. */
  readonly issue: (repository: string, title: string, body?: string, who?: Person) => Promise<number>;
  /** The same for a comment. */
  readonly comment: (repository: string, number: number, body: string, who?: Person) => Promise<number>;
  readonly timeline: (repository: string, number: number, who?: Person) => Promise<Body[]>;
  /** Of a timeline what tells of texts and commits. */
  readonly references: (repository: string, number: number, who?: Person) => Promise<Body[]>;
  readonly stateOf: (repository: string, number: number) => Promise<unknown>;
  /** Waits until everything that was announced is worked off. */
  readonly settled: () => Promise<void>;
}

/** Builds it, for whoever ada is once tests run. */
export function referenceScene(scene: Scene, ada: () => Person): ReferenceScene {
  const make = async (who: Person, path: string, body: object) => {
    const made = await who.call('POST', path, body);
    expect(made.status, made.text).toBe(201);
    return made.body;
  };
  const timeline = async (repository: string, number: number, who = ada()) =>
    (await who.call('GET', `/repos/${repository}/issues/${number}/timeline?limit=50`)).items;
  return {
    issue: async (repository, title, body = '', who = ada()) =>
      (await make(who, `/repos/${repository}/issues`, { title, body })).number,
    comment: async (repository, number, body, who = ada()) =>
      (await make(who, `/repos/${repository}/issues/${number}/comments`, { body })).id,
    timeline,
    references: async (repository, number, who) =>
      (await timeline(repository, number, who)).filter((one) => String(one['type']).endsWith('_ref')),
    stateOf: async (repository, number) =>
      (await ada().call('GET', `/repos/${repository}/issues/${number}`)).body['state'],
    settled: () =>
      vi.waitFor(
        async () =>
          expect(await scene.sql.rows`select id from :schema.outbox where topic = 'happening'`).toEqual([]),
        { timeout: 60_000, interval: 50 },
      ),
  };
}
