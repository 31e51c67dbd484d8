import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git, gitEnvironment, temporaryFolder } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { planWants, readWants, refusedWant } from '../src/rules/git/fetch-request.ts';
import { FLUSH, packetLine } from '../src/rules/git/push-request.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const DELIMITER = Buffer.from('0001');
const fetchOf = (...lines: string[]) =>
  Buffer.concat([
    packetLine('command=fetch\n'),
    packetLine('object-format=sha1'),
    DELIMITER,
    ...lines.map((line) => packetLine(line)),
    FLUSH,
  ]);

describe('the wants of a fetch', () => {
  it.each<[string, Buffer, string[]]>([
    ['one', fetchOf(`want ${A}\n`, 'done\n'), [A]],
    ['several, some twice', fetchOf(`want ${A}\n`, `want ${B}`, `want ${A}`), [A, B]],
    ['in upper case', fetchOf(`want ${A.toUpperCase()}\n`), [A]],
    ['with something behind', fetchOf(`want ${A} ofs-delta\n`, `want ${B}c`), [A, B]],
    ['behind what the client has', fetchOf(`have ${B}\n`, 'ofs-delta', `want ${A}`), [A]],
    ['behind the first end', Buffer.concat([fetchOf('done'), fetchOf(`want ${A}`)]), [A]],
    ['none, as it lists refs', Buffer.concat([packetLine('command=ls-refs'), DELIMITER, FLUSH]), []],
    ['of a name', fetchOf('want-ref refs/heads/main'), []],
    ['of half an id', fetchOf('want aaaa'), []],
    ['of nothing', Buffer.alloc(0), []],
    ['beside an empty line', fetchOf('', `want ${A}`), [A]],
  ])('%s', (_, body, expected) => expect(readWants(body)).toEqual(expected));

  it.each<[string, Buffer]>([
    ['cut off in a line', fetchOf(`want ${A}`).subarray(0, -20)],
    ['cut off in a length', Buffer.from('00')],
    ['without lengths', Buffer.from(`want ${A}`)],
    ['with a length that is none', Buffer.from('0003')],
    [
      'longer than anybody has seen refs for',
      Buffer.from(
        Array.from({ length: 200_001 }, (_, n) => `0031want ${String(n).padStart(40, '0')}`).join(''),
      ),
    ],
  ])('that is %s: none of them is known', (_, body) => expect(readWants(body)).toBeUndefined());
});

describe('which of them are served', () => {
  const object = (id: string, type: Parameters<typeof planWants>[0][number]['type']) => ({ id, type });
  it.each<[string, Parameters<typeof planWants>[0], ReturnType<typeof planWants>]>([
    ['what a ref points to', [object(A, 'commit'), object(A, 'tag')], { refused: undefined, lookFor: [] }],
    ['another commit, if a ref leads there', [object(B, 'commit')], { refused: undefined, lookFor: [B] }],
    ['no tag without a ref', [object(A, 'tag'), object(B, 'tag')], { refused: B, lookFor: [] }],
    ['what partial clones miss', [object(B, 'blob'), object(B, 'tree')], { refused: undefined, lookFor: [] }],
  ])('%s', (_, wanted, plan) => expect(planWants(wanted, new Set([A]))).toEqual(plan));
});

// Whatever git would serve must be seen here: a line that only one of the two understands is a way around.
describe('git and this reader understand the same', () => {
  let folder: string;
  let secret: string;
  beforeAll(async () => {
    const stack = new AsyncDisposableStack();
    folder = stack.use(await temporaryFolder()).path;
    await git(folder, 'init', '-q', '-b', 'main');
    await writeFile(join(folder, 'file'), 'a password');
    await git(folder, 'add', '.');
    await git(folder, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'oops');
    secret = await git(folder, 'rev-parse', 'HEAD');
    await git(folder, 'update-ref', '-d', 'refs/heads/main');
    return () => stack.disposeAsync();
  });
  const servedBy = (body: Buffer) =>
    spawnSync('git', ['upload-pack', '--strict', '--stateless-rpc', join(folder, '.git')], {
      input: body,
      env: { ...process.env, ...gitEnvironment, GIT_PROTOCOL: 'version=2' },
    }).stdout.includes('PACK');

  it.each<[string, (id: string) => Buffer]>([
    ['a plain want', (id) => fetchOf(`want ${id}\n`, 'done\n')],
    ['a want in upper case', (id) => fetchOf(`want ${id.toUpperCase()}`, 'done')],
    ['a want with something behind', (id) => fetchOf(`want ${id} and more`, 'done')],
    ['a want with an id that is too long', (id) => fetchOf(`want ${id}ff`, 'done')],
    ['a want at the end', (id) => fetchOf('done', 'ofs-delta', `want ${id}`)],
    [
      'a length in upper case',
      (id) =>
        Buffer.from(
          fetchOf(`want ${id}${' '.repeat(25)}`, 'done')
            .toString()
            .replace('004awant', '004Awant'),
        ),
    ],
    ['an empty line before', (id) => fetchOf('', `want ${id}`, 'done')],
    ['two spaces', (id) => fetchOf(`want  ${id}`, 'done')],
    ['a tab', (id) => fetchOf(`want\t${id}`, 'done')],
    [
      'a want among the capabilities',
      (id) =>
        Buffer.concat([
          packetLine('command=fetch'),
          packetLine(`want ${id}`),
          DELIMITER,
          packetLine('done'),
          FLUSH,
        ]),
    ],
    ['a want behind the end', (id) => Buffer.concat([fetchOf('done'), packetLine(`want ${id}`), FLUSH])],
    ['no end', (id) => fetchOf(`want ${id}`, 'done').subarray(0, -4)],
  ])('%s', (_, bodyFor) => {
    const body = bodyFor(secret);
    if (servedBy(body)) expect(readWants(body)).toContain(secret);
  });

  it('and git does serve what no ref leads to', () => {
    expect(servedBy(fetchOf(`want ${secret}`, 'done'))).toBe(true);
    expect(refusedWant(secret).toString()).toBe(`0049ERR upload-pack: not our ref ${secret}`);
  });
});
