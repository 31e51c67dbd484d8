import type { InspectorNotification } from 'node:inspector';
import { type HeapProfiler, type Profiler, Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { alreadyTracing, badTrace } from '../failures.ts';

/** A call as a trace of operations shows it. */
export interface Span {
  readonly operation: string;
  readonly requestId: string;
  /** RFC 3339 in UTC. */
  readonly startedAt: string;
  readonly ms: number;
  /** Name of the gRPC status. */
  readonly status: string;
}

const MAX_SECONDS = 600;
/** So many spans are kept; what comes after is counted. */
const MAX_SPANS = 100_000;

/** Looks into the running daemon, one look at a time. */
export class Tracing {
  #spans: Span[] | undefined;
  #dropped = 0;
  #busy = false;

  /** Every call that ends says so here. */
  ended(span: Span): void {
    if (this.#spans === undefined) return;
    if (this.#spans.length < MAX_SPANS) this.#spans.push(span);
    else this.#dropped++;
  }

  /**
   * Takes a trace.
   * @param type `cpu` (a V8 .cpuprofile), `heap` (a heap snapshot) or `trace` (one JSON line for each call that ended)
   * @param seconds how long; a heap snapshot is taken at the end
   * @throws INVALID_ARGUMENT; ABORTED while there is another; the signal's reason
   */
  async take(type: string, seconds: number, signal: AbortSignal): Promise<Buffer> {
    const kinds = { cpu: profile, heap: heapSnapshot, trace: (wait: Wait) => this.#record(wait) };
    const take = Object.hasOwn(kinds, type) ? kinds[type as keyof typeof kinds] : undefined;
    if (take === undefined) throw badTrace(`type is one of ${Object.keys(kinds).join(', ')}`);
    if (seconds < 0 || seconds > MAX_SECONDS) throw badTrace(`duration is 0 to ${MAX_SECONDS} seconds`);
    if (this.#busy) throw alreadyTracing();
    this.#busy = true;
    try {
      return await take(() => waitFor(seconds, signal));
    } finally {
      this.#busy = false;
    }
  }

  async #record(wait: Wait): Promise<Buffer> {
    const spans: Span[] = [];
    [this.#spans, this.#dropped] = [spans, 0];
    try {
      await wait();
    } finally {
      this.#spans = undefined;
    }
    const lines = [...spans, ...(this.#dropped > 0 ? [{ dropped: this.#dropped }] : [])];
    return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
}

type Wait = () => Promise<void>;

async function waitFor(seconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await sleep(seconds * 1000, undefined, { signal }).catch(() => signal.throwIfAborted());
}

async function profile(wait: Wait): Promise<Buffer> {
  return inSession(async (session) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await wait();
    const { profile: taken } = (await session.post('Profiler.stop')) as Profiler.StopReturnType;
    return Buffer.from(JSON.stringify(taken));
  });
}

async function heapSnapshot(wait: Wait): Promise<Buffer> {
  await wait();
  return inSession(async (session) => {
    const pieces: Buffer[] = [];
    session.on(
      'HeapProfiler.addHeapSnapshotChunk',
      ({ params }: InspectorNotification<HeapProfiler.AddHeapSnapshotChunkEventDataType>) =>
        pieces.push(Buffer.from(params.chunk)),
    );
    await session.post('HeapProfiler.takeHeapSnapshot');
    return Buffer.concat(pieces);
  });
}

async function inSession(work: (session: Session) => Promise<Buffer>): Promise<Buffer> {
  const session = new Session();
  session.connect();
  try {
    return await work(session);
  } finally {
    // Ends what the session began, a profile too.
    session.disconnect();
  }
}
