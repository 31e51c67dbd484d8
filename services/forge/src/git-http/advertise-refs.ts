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
  const output = outputOf(program);
  const checkExit = async () => {
    const { code, stderr } = await program.exited;
    if (code !== 0) throw new Error(`${service} could not list refs: ${stderr}`);
  };
  // Until git says something, a failure can still be answered as one.
  const first = await output.next();
  if (first.done === true) await checkExit();
  async function* advertisement() {
    if (!speaksVersion2(protocol)) {
      yield packetLine(`# service=${service}\n`);
      yield FLUSH;
    }
    if (first.done === true) return;
    yield first.value;
    yield* output;
    await checkExit().catch((error: Error) => {
      context.log.error(
        { service, repository: repository.id, reason: error.message },
        'an answer was broken off: git ended with an error',
      );
      throw error;
    });
  }
  const answer = Readable.from(advertisement(), { objectMode: false });
  // A client that was gone before anything was read of it leaves the program running otherwise.
  answer.once('close', () => void output.return());
  return answer;
}
