import { join } from 'node:path';
import { credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { root } from './croft.ts';

interface StockClient {
  DumpStates(request: object): NodeJS.EventEmitter;
  close(): void;
}

/** The dump of all states as a gRPC client gets it that knows the proto file and nothing else of Croft. */
export async function dumpStates(socket: string): Promise<unknown> {
  const proto = loadSync(join(root, 'services/state/proto/statesvc.proto'), { keepCase: true, oneofs: true });
  const { StateService } = loadPackageDefinition(proto)['statesvc'] as unknown as {
    StateService: new (...args: unknown[]) => StockClient;
  };
  const client = new StateService(`unix:${socket}`, credentials.createInsecure());
  let text = '';
  await new Promise<void>((resolve, reject) => {
    const call = client.DumpStates({});
    call.on('data', (message: { reply: string; states?: string }) => {
      if (message.reply === 'states') text += message.states;
    });
    call.on('error', reject);
    call.on('end', resolve);
  });
  client.close();
  return JSON.parse(text);
}
