import type { z } from 'zod';
import type { pullSchema } from './pull-json.ts';

type Pull = z.output<typeof pullSchema>;

/**
 * Pull requests as the JSON of an answer. Each names its repository twice, which is most of it and the same in nearly
 * all: every repository is spelled once.
 */
export function spellPulls(pulls: readonly Pull[]): string {
  const spelled = new Map<Pull['head']['repo'], string>();
  const spell = (repository: Pull['head']['repo']) => {
    const text = spelled.get(repository) ?? JSON.stringify(repository);
    spelled.set(repository, text);
    return text;
  };
  const spellSide = ({ repo, ...branch }: Pull['head']) => spellWith(branch, `"repo":${spell(repo)}`);
  const each = pulls.map(({ base, head, ...pull }) =>
    spellWith(pull, `"base":${spellSide(base)},"head":${spellSide(head)}`),
  );
  return `[${each.join(',')}]`;
}

/** An object that has members already, with some more that are spelled. */
function spellWith(object: object, members: string): string {
  return `${JSON.stringify(object).slice(0, -1)},${members}}`;
}
