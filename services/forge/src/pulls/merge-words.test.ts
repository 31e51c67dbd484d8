import { expect, it } from 'vitest';
import type { Context } from '../context.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { messageOf, type Worded } from './merge-words.ts';

it('the message of who gave a title takes nothing that is to be found out', async () => {
  const nothing = {};
  const message = messageOf(nothing as Context, nothing as VisibleRepository, nothing as Worded, 'merge', {
    title: ' Mine ',
    message: ' more ',
  });
  expect(await message).toBe('Mine\n\nmore');
});
