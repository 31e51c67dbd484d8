import type { z } from 'zod';
import type { pullSchema } from './pull-json.ts';

type Pull = z.output<typeof pullSchema>;

/**
 * Pull requests as the JSON of an answer. Each names its repository twice, which is most of it and the same in nearly
 * all: every repository is spelled once, as bytes, which are only copied from then on.
 */
export function spellPulls(pulls: readonly Pull[]): Buffer {
  const spelled = new Map<Pull['head']['repo'], Buffer>();
  const spell = (repository: Pull['head']['repo']) => {
    const bytes = spelled.get(repository) ?? Buffer.from(JSON.stringify(repository));
    spelled.set(repository, bytes);
    return bytes;
  };
  const pieces: Buffer[] = [];
  let before = '[';
  for (const { base, head, ...pull } of pulls) {
    const { repo: baseRepository, ...baseBranch } = base;
    const { repo: headRepository, ...headBranch } = head;
    const upToBase = `${before}${opened(pull)}"base":${opened(baseBranch)}"repo":`;
    const upToHead = `},"head":${opened(headBranch)}"repo":`;
    pieces.push(Buffer.from(upToBase), spell(baseRepository), Buffer.from(upToHead), spell(headRepository));
    before = '}},';
  }
  pieces.push(Buffer.from(pulls.length === 0 ? '[]' : '}}]'));
  return Buffer.concat(pieces);
}

/** An object that has members already, up to where more of them follow. */
function opened(object: object): string {
  return `${JSON.stringify(object).slice(0, -1)},`;
}
