// A client that is somebody else: `node call-as.ts <JSON>`. Everything is loaded before the process gives its rights up,
// so the files need not be readable for that user.
import { credentials, Metadata, makeGenericClientConstructor, type ServiceError } from '@grpc/grpc-js';
import { loadDefinition, stateExtrasOf, stateServiceOf } from '../../src/server/definition.ts';
import type { CallsAs, ShortAnswer } from './other-users.ts';

const { uid, gid, groups, address, calls, connections, deadlineMs } = JSON.parse(
  process.argv[2] as string,
) as CallsAs;
const definition = loadDefinition();
const methods = { ...stateServiceOf(definition), ...stateExtrasOf(definition) };
const Client = makeGenericClientConstructor(methods, 'StateService');
process.setgroups?.(groups);
process.setgid?.(gid);
process.setuid?.(uid);

async function callAll(): Promise<ShortAnswer[]> {
  const client = new Client(address, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
  const answers: ShortAnswer[] = [];
  for (const { name, request, metadata = {} } of calls) {
    const sent = new Metadata();
    for (const [key, value] of Object.entries(metadata)) sent.set(key, value);
    const method = client[name] as unknown as (...given: object[]) => AsyncIterable<object>;
    const streams = methods[name]?.requestStream === true;
    const options = { deadline: Date.now() + deadlineMs };
    const answer: ShortAnswer = { name, code: 0, details: '', messages: 0, lines: [] };
    try {
      const answers = streams
        ? method.call(client, sent, options)
        : method.call(client, request, sent, options);
      if (streams) (answers as unknown as { end(): void }).end();
      for await (const message of answers) {
        answer.messages++;
        if ('log' in message) answer.lines.push(String(message.log));
      }
    } catch (error) {
      const { code, details } = error as ServiceError;
      Object.assign(answer, { code, details });
    }
    answers.push(answer);
  }
  return answers;
}

// None is closed before all are done.
const answers = (await Promise.all(Array.from({ length: connections }, callAll))).flat();
process.stdout.write(JSON.stringify(answers), () => process.exit());
