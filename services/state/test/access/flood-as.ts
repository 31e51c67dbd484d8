// A client that is somebody else and means harm: `node flood-as.ts <JSON>`; it goes on until its input ends.
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import type { FloodAs } from './other-users.ts';

const { uid, gid, path, method, connections, streams } = JSON.parse(process.argv[2] as string) as FloodAs;
process.setgroups?.([]);
process.setgid?.(gid);
process.setuid?.(uid);
process.stdin.resume().once('end', () => process.exit());

if (method === undefined) for (let at = 0; at < connections; at++) knock();
else for (let at = 0; at < connections; at++) callOften(method);
if (method === undefined) process.stdout.write('0\n');

/** Connects again as soon as it was closed. */
function knock(): void {
  const socket = connect(path);
  socket.on('error', () => {}).once('close', () => setImmediate(knock));
}

/** Opens streams that it never ends, and tells the status of each that was refused. */
function callOften(name: string): void {
  const createConnection = () => connect(path);
  const session = connectHttp2('http://localhost', { createConnection }).on('error', () => {});
  const headers = { ':method': 'POST', ':path': name, 'content-type': 'application/grpc', te: 'trailers' };
  for (let at = 0; at < streams; at++) {
    const stream = session.request(headers).on('error', () => {});
    const tell = (found: { 'grpc-status'?: string | undefined }) => {
      if (found['grpc-status'] !== undefined) process.stdout.write(`${found['grpc-status']}\n`);
    };
    stream.on('response', tell).on('trailers', tell);
    stream.resume().write(Buffer.alloc(5));
    if (name.endsWith('/Watch')) stream.end();
  }
}
