import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkHealth } from '../src/server/check-health.ts';
import { startDaemon, temporaryFolder } from './daemon.ts';

it('asks again when its first connection comes to nothing', async () => {
  const daemon = await startDaemon();
  const path = join(temporaryFolder(), 'socket');
  let connections = 0;
  const server = createServer((socket) => {
    if (++connections === 1) return socket.destroy();
    const there = connect(join(daemon.folder, 'statesvc.sock'));
    for (const end of [socket, there]) end.on('error', () => {});
    return socket.pipe(there).pipe(socket);
  });
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  await checkHealth(path);
  expect(connections).toBe(2);
});
