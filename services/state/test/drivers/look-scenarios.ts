import { mkdirSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Daemon } from '../daemon.ts';
import { callExtra } from '../extras-client.ts';
import { fillTree } from '../sample-tree.ts';
import { type StorageFixture, withDaemon } from './fixture.ts';

interface Changes {
  readonly changes: readonly { readonly path: string; readonly kind: string; readonly content: boolean }[];
}

/** What differs, one line a path. */
async function diff(daemon: Daemon, request: object): Promise<string[]> {
  const answer = await callExtra(daemon, 'Diff', request);
  expect(answer).toMatchObject({ code: 0 });
  return answer.results
    .flatMap((result) => (result['changes'] as Changes | undefined)?.changes ?? [])
    .map(
      ({ path, kind, content }) => `${kind.replace('DIFF_KIND_', '')}${content ? ' content' : ''} ${path}`,
    );
}

/** Looking into states. */
export function lookScenarios(fixture: StorageFixture): void {
  describe('what is in states', () => {
    it('is compared with another state and with what is there now', async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      const at = (path: string) => join(storage.systemPath, path);
      fillTree(storage.systemPath);
      await daemon.save('before');
      expect(await diff(daemon, { stateName: 'before' })).toEqual([]);
      // Of one length, so that only reading tells.
      writeFileSync(at('hosts'), '127.0.0.1 localhosT\n');
      utimesSync(at('empty'), 1, 1);
      unlinkSync(at('large'));
      rmSync(at('sub/deep'), { recursive: true });
      mkdirSync(at('new'));
      symlinkSync('../hosts', at('new/link'));
      const expected = [
        'CHANGED content hosts',
        'REMOVED large',
        'ADDED new',
        'ADDED new/link',
        'REMOVED sub/deep',
        'REMOVED sub/deep/er',
        'CHANGED content sub/hosts-too',
      ];
      expect(await diff(daemon, { stateName: 'before' })).toEqual(expected);
      await daemon.save('after');
      expect(await diff(daemon, { stateName: 'before', otherStateName: 'after' })).toEqual(expected);
      expect(await diff(daemon, { stateName: 'after' })).toEqual([]);
      const before = await storage.facts();
      expect(await diff(daemon, { stateName: 'after', otherStateName: 'before' })).toHaveLength(
        expected.length,
      );
      expect(await storage.facts()).toEqual(before);
    });
  });
}
