import { credentials, Metadata, makeGenericClientConstructor } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';

/** How long the daemon waits for its own answer; finding out who it is itself may take ten seconds. */
const READY_MS = 15_000;

/**
 * Asks the server at a unix socket how it is and returns when it has answered. On a machine that has much
 * else to do, such as one that boots, a first connection may come to nothing: others are tried until the time is over.
 */
export async function checkHealth(path: string): Promise<void> {
  const Client = makeGenericClientConstructor(healthService, 'Health');
  const client = new Client(`unix:${path}`, credentials.createInsecure());
  try {
    await new Promise<void>((resolve, reject) => {
      const deadline = Date.now() + READY_MS;
      const check = client['Check'] as HealthCheck;
      const patient = new Metadata({ waitForReady: true });
      check.call(client, { service: '' }, patient, { deadline }, (error) =>
        error === null ? resolve() : reject(error),
      );
    });
  } finally {
    client.close();
  }
}

type HealthCheck = (
  request: { service: string },
  metadata: Metadata,
  options: { deadline: number },
  done: (error: Error | null) => void,
) => void;
