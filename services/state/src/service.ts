import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '@croft/failure';
import {
  type Clock,
  FolderInUse,
  type Log,
  lockFolder,
  type RunningService,
  StartError,
  systemClock,
} from '@croft/runtime';
import { settleOnce } from './boot/boot-once.ts';
import { readBoot } from './boot/read-boot.ts';
import { settleMenu } from './boot/update-boot-menu.ts';
import { Incoming } from './contents/incoming.ts';
import type { Context } from './context.ts';
import { FruitlessRemovals } from './daemon/fruitless-removals.ts';
import { Happenings } from './daemon/happenings.ts';
import { openMetrics } from './daemon/metrics.ts';
import { PolicyFile } from './daemon/policy-file.ts';
import { RecentErrors } from './daemon/recent-errors.ts';
import { StorageHealth } from './daemon/storage-health.ts';
import { Tracing } from './daemon/tracing.ts';
import { daemonStopping } from './failures.ts';
import { Directory } from './outside/identity/directory.ts';
import { LateAddresses } from './outside/late-addresses.ts';
import { programsIn } from './outside/programs.ts';
import { openStorage } from './outside/storage/open-storage.ts';
import { stateService } from './rpc.ts';
import { stateExtras } from './rpc-extras.ts';
import { checkDoors } from './server/doors/check-doors.ts';
import { type DoorOptions, openDoors } from './server/doors/open-doors.ts';
import { Gate } from './server/gate.ts';
import { GrpcServer } from './server/grpc-server.ts';
import type { StateSettings } from './settings.ts';
import { settleStates } from './states/settle-states.ts';
import { Turns } from './turns.ts';

/** How long calls in flight get after DaemonStop when nobody else decides. */
const OWN_GRACE_MS = 10_000;
/** How long calls get to undo what they began when their grace time is over. */
const UNDO_MS = 5000;

/** What the service needs from the process it runs in. */
export interface StartOptions extends DoorOptions {
  readonly settings: StateSettings;
  /** Where the daemon keeps everything, `<data>/state`. */
  readonly folder: string;
  readonly log: Log;
  readonly clock?: Clock;
  readonly version: string;
  /** Called after DaemonStop has been answered; without it the service closes itself. */
  readonly onStop?: () => void;
}

/** A running daemon. */
export interface RunningState extends RunningService {
  /** Where it listens on TCP, `host:port`. */
  readonly tcpAddress: string | undefined;
  /** Where metrics are fetched. */
  readonly metricsAddress: string | undefined;
}

/** Starts the daemon; it has answered a health check when this returns. @throws StartError */
export async function startState(options: StartOptions): Promise<RunningState> {
  const { folder, settings } = options;
  // `level` of a child can be changed without changing it for the other services.
  const log = options.log.child({ service: 'state' });
  const clock = options.clock ?? systemClock;
  const late = new LateAddresses(log);
  const directory = new Directory(programsIn(settings.SEARCH_PATH));
  const doors = await explained(() =>
    openDoors(settings, folder, { ...options, log, clock, late, directory }),
  );
  const { path } = doors.socket;
  await using opened = new AsyncDisposableStack();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  opened.use(lock(folder));
  // What refuses a start comes before the first thing that it changes.
  await checkDoors(doors, settings);
  const policy = await explained(() => PolicyFile.open(settings.POLICY));
  const storage = await explained(() => openStorage(settings, folder, (line) => log.warn({}, line)));
  opened.defer(() => storage.close?.());
  const { index, differs, hasRemovals } = await explained(() => settleStates(folder, storage, log));
  const gate = new Gate();
  // A call that did not end may still write.
  const askStamp = async () => ((await gate.wait(0)) ? storage.stamp?.() : undefined);
  opened.defer(() => index.close(askStamp));
  const turns = new Turns();
  const health = new StorageHealth(storage);
  const metrics = await openMetrics(settings, { index, health, turns }, { ...options, late, log });
  opened.defer(() => metrics?.close());
  opened.defer(() => late.close());
  const context: Context = {
    version: options.version,
    startedMs: performance.now(),
    clock,
    log,
    storage,
    health,
    index,
    turns,
    minFree: settings.MIN_FREE ?? storage.recommendedMinFree,
    fruitless: new FruitlessRemovals(),
    incoming: new Incoming(),
    boot: await readBoot(settings),
    policy,
    directory,
    tls: doors.files,
    errors: new RecentErrors(),
    happenings: new Happenings(clock),
    tracing: new Tracing(),
    metrics,
    late,
    stop: () => (options.onStop === undefined ? void close(OWN_GRACE_MS) : options.onStop()),
  };
  await settleOnce(context);
  if (hasRemovals) await settleMenu(context);
  // What is written down already is not written again: with thousands of states that takes longer than all before.
  if (differs)
    await index.checkpoint(askStamp).catch((error) => {
      // A daemon that starts on a full disk is needed to make room on it; what is settled now is settled again next time.
      log.error({ err: error }, 'the checkpoint could not be written');
    });
  index.tell((before, after) => context.happenings.tellChanges(before, after));
  const service = { context, gate, access: doors.access };
  const server = await GrpcServer.start(doors, { ...stateService(service), ...stateExtras(service) });
  opened.defer(() => server.close());
  const resources = opened.move();
  if (settings.SOCKET === undefined && path !== join(folder, 'statesvc.sock')) {
    log.warn(
      { socket: path },
      'the data folder has too long a path for a socket, so the socket lies elsewhere',
    );
  }
  log.info(
    { socket: path, tcp: server.tcpAddress, storage: storage.driver, states: index.model.states.length },
    'state service is up',
  );

  let closing: Promise<void> | undefined;
  function close(graceMs: number): Promise<void> {
    closing ??= shutDown(graceMs);
    return closing;
  }
  async function shutDown(graceMs: number): Promise<void> {
    server.announceStop();
    gate.refuse();
    if (!(await gate.wait(graceMs))) {
      gate.end(daemonStopping());
      if (!(await gate.wait(UNDO_MS)))
        log.error({}, 'a call did not end; the next start clears away what it leaves');
    }
    await resources.disposeAsync();
    log.info({}, 'state service has stopped');
  }
  return {
    name: 'state',
    address: `unix:${path}`,
    get tcpAddress() {
      return server.tcpAddress;
    },
    get metricsAddress() {
      return metrics?.address;
    },
    close,
  };
}

function lock(folder: string): Disposable {
  try {
    return lockFolder(folder, 'The state folder');
  } catch (error) {
    throw error instanceof FolderInUse ? new StartError(error.message) : error;
  }
}

/** A failure at start is for the person at the terminal. */
async function explained<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    throw error instanceof Failure ? new StartError(error.message) : error;
  }
}
