import { afterEach, expect, it, vi } from 'vitest';
import { Queues } from './queues.ts';

afterEach(() => vi.useRealTimers());

it('nobody waits for ever for one of the git programs', async () => {
  vi.useFakeTimers();
  const { clients } = new Queues(1);
  const giveBack = await clients.take('ada');
  const waiting = expect(clients.take('bob')).rejects.toMatchObject({ kind: 'unavailable', code: 'busy' });
  await vi.advanceTimersByTimeAsync(5 * 60_000);
  await waiting;
  // Whoever left took nothing with him.
  giveBack();
  await expect(clients.take('eve')).resolves.toBeTypeOf('function');
});
