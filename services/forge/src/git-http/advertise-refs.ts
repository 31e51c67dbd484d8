import { Readable } from 'node:stream';
import type { Context } from '../context.ts';
import { startAdvertising } from '../outside/git/smart-http.ts';
import { type GitService, readProtocol, speaksVersion2 } from '../rules/git/git-protocol.ts';
import { FLUSH, packetLine } from '../rules/git/push-request.ts';
import type { GitVisitor } from './admit-git.ts';
import { outputOf, runForClient } from './run-for-client.ts';

/** The refs of a repository, or in version 2 of the protocol the abilities of the server. */
export async function advertiseRefs(
  context: Context,
  { found: { repository }, share }: GitVisitor,
  service: GitService,
  protocolHeader: string | string[] | undefined,
): Promise<Readable> {
  const protocol = readProtocol(service, protocolHeader);
  const program = await runForClient(context, share, () =>
    startAdvertising(context.git, repository.id, service, { protocol }),
  );
  async function* advertisement() {
    if (!speaksVersion2(protocol)) {
      yield packetLine(`# service=${service}\n`);
      yield FLUSH;
    }
    yield* outputOf(program);
    const { code, stderr } = await program.exited;
    if (code !== 0) throw new Error(`${service} could not list refs: ${stderr}`);
  }
  return Readable.from(advertisement(), { objectMode: false });
}
