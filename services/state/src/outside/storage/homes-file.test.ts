import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/daemon.ts';
import type { Home } from '../../model/model.ts';
import { HomesFile } from './homes-file.ts';

const home = (user: string): Home => ({ user, path: `/home/${user}`, machines: [] });

it('a look that ends after a change knows of the change', async () => {
  const folder = temporaryFolder();
  await new HomesFile<Home>(folder, async (kept) => kept).put(home('ada'));
  const gate = Promise.withResolvers<void>();
  let looks = 0;
  const file = new HomesFile<Home>(folder, async (kept) => {
    if (looks++ === 0) await gate.promise;
    return kept;
  });
  const look = file.list();
  await expect.poll(() => looks).toBe(1);
  await file.put(home('bob'));
  gate.resolve();
  await look;
  expect(await file.list()).toEqual([home('ada'), home('bob')]);
  await file.put(home('eve'));
  expect((await file.reread()).map(({ user }) => user)).toEqual(['ada', 'bob', 'eve']);
});
