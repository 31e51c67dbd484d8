import type { ForgeTasks } from '@croft/forge';
import type { Environment } from '../environment.ts';
import { openBeside } from '../house/open-beside.ts';
import { openHouse } from '../house/open-house.ts';
import type { Configured, House } from '../registry/index.ts';

/** Looks for what is not as it should be; 1 when there is something. */
export async function runDoctor(environment: Environment, { quick }: { quick?: true }): Promise<number> {
  return await beside(environment, async (tasks) => {
    let findings = 0;
    const { repositories } = await tasks.examine(
      quick ? 'connections' : 'everything',
      ({ repository, problem, remedy }) => {
        findings++;
        const where = repository === '' ? '' : `${repository}: `;
        process.stdout.write(`${printable(`${where}${problem}`)}\n  ${printable(remedy)}\n`);
      },
    );
    const looked = `looked at ${counted(repositories, 'repository', 'repositories')}`;
    const found = findings === 0 ? 'nothing is wrong' : counted(findings, 'finding', 'findings');
    process.stdout.write(`${looked}: ${found}\n`);
    return findings === 0 ? 0 : 1;
  });
}

/** Copies everything into a new folder. */
export async function runBackup(environment: Environment, folder: string): Promise<number> {
  return await beside(environment, async (tasks) => {
    tell('backed up', await tasks.backUp(folder));
    return 0;
  });
}

/** Brings a copy back; nobody else may have the data folder meanwhile. */
export async function runRestore(environment: Environment, folder: string): Promise<number> {
  await using open = new AsyncDisposableStack();
  const house = await openHouse(environment, ['forge'], false, open);
  const service = house.services.get('forge') as Configured;
  return await withTasks(service, house.for(service), async (tasks) => {
    tell('restored', await tasks.restore(folder));
    return 0;
  });
}

function tell(
  what: string,
  { repositories, tables, attachments }: Awaited<ReturnType<ForgeTasks['backUp']>>,
) {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const parts = [
    counted(repositories.length, 'repository', 'repositories'),
    counted(rows, 'row', 'rows'),
    counted(attachments, 'attachment', 'attachments'),
  ];
  process.stdout.write(`${what} ${parts.join(', ')}\n`);
}

async function beside(
  environment: Environment,
  work: (tasks: ForgeTasks) => Promise<number>,
): Promise<number> {
  await using open = new AsyncDisposableStack();
  const { service, house } = await openBeside(environment, 'forge', false, open);
  await service.checkForge?.(house);
  return await withTasks(service, house, work);
}

async function withTasks(
  service: Configured,
  house: House,
  work: (tasks: ForgeTasks) => Promise<number>,
): Promise<number> {
  const tasks = await service.forgeTasks?.(house);
  if (tasks === undefined) throw new Error('forge has no tasks');
  try {
    return await work(tasks);
  } finally {
    await tasks.close();
  }
}

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

/** What comes from repositories may not move the cursor of a terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}
