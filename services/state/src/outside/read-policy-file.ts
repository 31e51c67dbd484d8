import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Failure } from '@croft/failure';
import type * as Yaml from 'yaml';
import { badPolicy } from '../failures.ts';
import { DEFAULT_POLICY, type Located, type Policy, readPolicy } from '../rules/states/policy.ts';
import { readFully } from './storage/vault/files.ts';

const MAX_BYTES = 64 * 1024;

/**
 * The policy that a YAML file holds.
 * @returns the defaults when there is no such file
 * @throws INVALID_ARGUMENT with line numbers
 */
export async function readPolicyFile(file: string): Promise<Policy> {
  const text = await readText(file);
  if (text === undefined) return DEFAULT_POLICY;
  // Only here: most daemons have no policy file, and the library takes time to load.
  const yaml = await import('yaml');
  const counter = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: counter, prettyErrors: false, stringKeys: true });
  const lineOf = (offset: number) => counter.linePos(offset).line;
  const wrong = [...document.errors, ...document.warnings];
  if (wrong.length > 0)
    throw badPolicy(
      file,
      wrong.map(({ message, pos }) => `line ${lineOf(pos[0])}: ${message}`),
    );
  return readPolicy(located(yaml, document.contents, lineOf), file);
}

/** Never waits for the other end of a fifo, and never reads what has no end. @returns undefined when there is no such file */
async function readText(file: string): Promise<string | undefined> {
  try {
    await using opened = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await opened.stat()).isFile()) throw badPolicy(file, ['it is no file']);
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    const bytes = await readFully(opened.fd, buffer, 0);
    if (bytes > MAX_BYTES) throw badPolicy(file, [`it is larger than ${MAX_BYTES / 1024} KiB`]);
    return buffer.toString('utf8', 0, bytes);
  } catch (error) {
    if (error instanceof Failure) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw badPolicy(file, [(error as Error).message]);
  }
}

/** The document with the lines its values stand in; what a policy has no use for, such as an alias, becomes a text. */
function located(yaml: typeof Yaml, node: unknown, lineOf: (offset: number) => number): Located {
  const line = yaml.isNode(node) ? lineOf(node.range?.[0] ?? 0) : 1;
  if (yaml.isMap(node)) {
    const fields = node.items.map(
      ({ key, value }) =>
        [String(key), value === null ? { line, value: null } : located(yaml, value, lineOf)] as const,
    );
    return { line, value: new Map(fields) };
  }
  if (yaml.isSeq(node)) return { line, value: node.items.map((item) => located(yaml, item, lineOf)) };
  const value = yaml.isScalar(node) ? node.value : node;
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value))
    return { line, value: value as string | number | boolean | null };
  return { line, value: 'an alias or a tag' };
}
