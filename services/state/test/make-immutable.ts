import { spawnSync } from 'node:child_process';
import { skipWithout } from '@croft/testing';
import { onTestFinished, type TestContext } from 'vitest';

/** Has something not be changed by anybody, until the test ends. @returns what lets it be changed again */
export function makeImmutable(context: TestContext, path: string): () => void {
  if (spawnSync('chattr', ['+i', path]).status !== 0)
    skipWithout(context, 'chattr +i, and a disk that knows it');
  const undo = () => void spawnSync('chattr', ['-i', path]);
  onTestFinished(undo);
  return undo;
}
