import { splitPath } from '../../open-folder.ts';
import { type RevertStep, stepPath } from './plan-revert.ts';

/** How many folders files are put into at once: most of the time of each is spent waiting for the disk. */
const AT_ONCE = 8;

/** Steps that follow each other in one folder, and are done one after another. */
export interface Stay {
  /** Path text of the folder; undefined for the tree itself, which lies in none of ours. */
  readonly folder: string | undefined;
  readonly steps: readonly RevertStep[];
}

/**
 * The steps in their order, by what may be done at once: files in folders that are there, which have nothing to do with each
 * other. All else waits for what is before it: a folder for the one that it is in, another name for its file.
 */
export function orderSteps(steps: readonly RevertStep[]): readonly (readonly Stay[])[] {
  const order: Stay[][] = [];
  let isEnded = true;
  for (const stay of staysOf(steps)) {
    const onlyFiles = stay.steps.every(isFile);
    if (isEnded || !onlyFiles) order.push([stay]);
    else order.at(-1)?.push(stay);
    isEnded = !onlyFiles || order.at(-1)?.length === AT_ONCE;
  }
  return order;
}

function staysOf(steps: readonly RevertStep[]): readonly Stay[] {
  const stays: { folder: string | undefined; steps: RevertStep[] }[] = [];
  for (const step of steps) {
    const path = stepPath(step);
    const folder = path === '.' ? undefined : splitPath(path).parent;
    const last = stays.at(-1);
    if (last !== undefined && last.folder === folder && last.steps.every(isFile) === isFile(step))
      last.steps.push(step);
    else stays.push({ folder, steps: [step] });
  }
  return stays;
}

const isFile = (step: RevertStep) => step.do === 'file';
