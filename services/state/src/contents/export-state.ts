import { createHash } from 'node:crypto';
import type { Call, Context } from '../context.ts';
import { savedWith, storageName } from '../model/model.ts';
import { sizeText } from '../rules/machines/sizes.ts';
import { checkUserName } from '../rules/machines/user-data.ts';
import { nameState } from '../rules/states/find-state.ts';
import type { ExtraRequestOf, ExtraResultOf } from '../wire-extras.ts';
import { whilePresent } from './while-present.ts';

/** With the few bytes around it a message stays within 64 KiB. */
const MESSAGE_BYTES = 64 * 1024 - 16;

type Answer = ExtraResultOf<'Export'>;

/** A state with all it holds, as bytes that Import takes. Nobody waits for it: a removal goes on. */
export async function exportState(
  { stateName, userName, users }: ExtraRequestOf<'Export'>,
  call: Call,
  context: Context,
): Promise<AsyncIterable<Answer>> {
  const { storage, index } = context;
  if (userName !== '') checkUserName(userName);
  const state = nameState(index.model, { name: stateName, user: userName || undefined });
  const states = users && state.kind === 'system' ? savedWith(index.model.states, state) : [state];
  call.info(`exporting ${states.map(storageName).join(', ')}`);
  const content = storage.transfer.send(states, { signal: call.signal, report: call.warning });
  return whilePresent(answers(content, call), states, context);
}

async function* answers(content: AsyncIterable<Uint8Array>, call: Call): AsyncGenerator<Answer> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of inPieces(content, MESSAGE_BYTES)) {
    hash.update(piece);
    bytes += piece.length;
    yield { content: piece };
  }
  call.info(`exported ${sizeText(bytes)}`);
  yield { summary: { bytes, sha256: hash.digest('hex') } };
}

/** The same bytes in pieces of one size, the last of what is left. */
async function* inPieces(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Buffer> {
  let piece = Buffer.allocUnsafe(size);
  let filled = 0;
  for await (const bytes of content) {
    for (let at = 0; at < bytes.length; ) {
      const taken = bytes.subarray(at, at + size - filled);
      piece.set(taken, filled);
      [at, filled] = [at + taken.length, filled + taken.length];
      if (filled < size) continue;
      yield piece;
      [piece, filled] = [Buffer.allocUnsafe(size), 0];
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
}
