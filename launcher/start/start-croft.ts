import { guardTransactions, type RunningService } from '@croft/runtime';
import { type Environment, onOrphaned } from '../environment.ts';
import { type OpenHouse, openHouse } from '../house/open-house.ts';
import { forgetPassword } from '../house/secrets.ts';
import { type Configured, type ServiceName, serviceNames } from '../registry/index.ts';
import { version } from '../version.ts';
import { lacksAdministrator, makeAdministrator } from './administrator.ts';
import { greet } from './greeting.ts';
import { notifyReady } from './notify-ready.ts';
import { Stop } from './stop.ts';

/**
 * Runs services until somebody asks them to stop.
 * @param named the services a person named; none means all
 * @returns the exit code
 */
export async function startCroft(environment: Environment, named: readonly ServiceName[]): Promise<number> {
  if (['development', 'test'].includes(environment['NODE_ENV'] ?? '')) guardTransactions();
  const stop = new Stop();
  stop.listen();
  onOrphaned(environment, () => stop.request('the process that started Croft was killed'));
  const names = serviceNames.filter((name) => named.length === 0 || named.includes(name));

  await using open = new AsyncDisposableStack(); // closes in reverse, PostgreSQL and the lock last
  const house = await openHouse(environment, names, named.length > 0, open);
  const { log } = house.runLog;
  void house.embedded?.exited.then((reason) => stop.request(reason, 1));

  const running = await startServices(house, names, stop, open);
  const administrator = await makeAdministrator(house);
  if (!stop.asked) {
    const seconds = performance.now() / 1000;
    const { dataFolder } = house.configuration;
    const unheard = await tell(
      greet({
        version,
        seconds,
        running,
        dataFolder,
        logFile: house.runLog.file,
        administrator,
        lacksAdministrator: lacksAdministrator(house),
      }),
    );
    if (unheard !== undefined)
      log.warn({ err: unheard }, 'what a start says could not be written to standard output');
    else if (administrator !== undefined) await forgetPassword(dataFolder, house.secrets);
    await notifyReady(environment, log);
    log.info({ services: names, seconds: Number(seconds.toFixed(2)) }, 'ready');
  }

  const reason = await stop.requested;
  log[reason.exitCode === 0 ? 'info' : 'error']({ reason: reason.words }, 'stopping');
  if (reason.exitCode !== 0) process.stderr.write(`Croft stops: ${reason.words}\n`);
  return reason.exitCode;
}

/** Who runs Croft may have its output in a file on a full disk, or listen no more: that ends nothing. @returns why it was not taken */
async function tell(text: string): Promise<Error | undefined> {
  process.stdout.on('error', () => {});
  return await new Promise((resolve) => process.stdout.write(text, (error) => resolve(error ?? undefined)));
}

/** All together: each waits for processes of its own, and forge is told where auth answers once it does. */
async function startServices(
  house: OpenHouse,
  names: readonly ServiceName[],
  stop: Stop,
  open: AsyncDisposableStack,
): Promise<RunningService[]> {
  let authUrl: Promise<string> | undefined;
  const startOne = async (name: ServiceName, service: Configured): Promise<RunningService> => {
    const onStop = () => {
      if (names.length === 1) stop.request(`${name} was told to stop`);
      else void started.close(stop.graceMs); // the others go on
    };
    const started = await service.start(
      house.for(service, { onStop, ...(authUrl === undefined ? {} : { authUrl }) }),
    );
    return started;
  };
  const starts = [...house.services].map(([name, service]) => {
    const start = startOne(name, service);
    if (name === 'auth') {
      authUrl = start.then(({ address }) => address);
      // Who fails says so itself, whether or not somebody waits for the address.
      authUrl.catch(() => {});
    }
    return start;
  });
  const outcomes = await Promise.allSettled(starts);
  const running = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' ? open.adopt(outcome.value, (one) => one.close(stop.graceMs)) : [],
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return running;
}
