/** Something at a path of a generated history. */
interface Entry {
  content: string;
  mode: '100644' | '100755' | '120000' | '160000';
}

type Files = ReadonlyMap<string, Entry>;

/**
 * A generated history as input of `git fast-import`: branches `main-<seed>` and `topic-<seed>` with common ground and
 * some commits each, in turns; every fourth merged crosswise, every third and fifth with `.gitattributes`; in every
 * eleventh all that happens is that a folder is moved to two places, and a file added to it.
 */
export function importOf(seed: number): string {
  const random = chance(seed);
  let files: Files = new Map(
    Array.from({ length: 6 }, (_, n) => [
      `${n % 2 ? 'src/' : ''}file-${n}.txt`,
      { content: text(random), mode: '100644' },
    ]),
  );
  if (seed % 3 === 0) files = put(files, '.gitattributes', '*-1.txt merge=union\n*-2.txt binary\n');
  if (seed % 5 === 0) files = put(files, 'src/.gitattributes', '*.txt merge=union\n');
  if (seed % 7 === 0) files = put(files, 'module', '1'.repeat(40), '160000');
  const isSplit = seed % 11 === 6;
  if (isSplit)
    for (const n of [1, 2, 3, 4]) files = put(files, `split/${n}`, `a file of its own, number ${n}\n`);
  const commits: string[] = [];
  let marks = 0;
  const write = (side: string, message: string, parents: readonly number[], entries: Files): number => {
    commits.push(commitOf(`${side}-${seed}`, ++marks, message, parents, entries));
    return marks;
  };
  const base = write('main', 'base', [], files);
  const sides = { main: { files, tip: base }, topic: { files, tip: base } };
  const grow = (name: 'main' | 'topic', message: string, merged: readonly number[] = []) => {
    const side = sides[name];
    if (merged.length === 0) side.files = mutate(side.files, random);
    if (random() < 0.3) side.files = mutate(side.files, random);
    side.tip = write(name, message, [side.tip, ...merged], side.files);
  };
  if (isSplit) {
    const { main, topic } = sides;
    for (const n of [1, 2, 3, 4])
      main.files = move(main.files, `split/${n}`, `${n < 3 ? 'one' : 'two'}/${n}`);
    topic.files = put(topic.files, 'split/added', text(random));
    for (const [name, side] of Object.entries(sides))
      side.tip = write(name, 'folders', [side.tip], side.files);
    return commits.join('');
  }
  for (const side of ['main', 'topic', 'main', 'topic'] as const)
    for (let n = 0; n < 1 + Math.floor(random() * 2); n++) grow(side, `${side} ${n}\n\nwhy: ${random()}`);
  if (seed % 4 === 1) {
    const [main, topic] = [sides.main.tip, sides.topic.tip];
    grow('main', 'criss', [topic]);
    grow('topic', 'cross', [main]);
    for (const side of ['main', 'topic'] as const) grow(side, `after ${side}`);
  }
  return commits.join('');
}

/** Numbers of [0, 1), the same for the same seed. */
export function chance(seed: number): () => number {
  let state = Math.imul(seed + 1, 2_654_435_761);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const line = (random: () => number) => `line ${Math.floor(random() * 30)}`;
const text = (random: () => number) =>
  `${Array.from({ length: 8 + Math.floor(random() * 20) }, () => line(random)).join('\n')}\n`;

function put(files: Files, name: string, content: string, mode: Entry['mode'] = '100644'): Files {
  // A file and a folder of one name are no tree.
  const others = [...files].filter(
    ([other]) => other !== name && !other.startsWith(`${name}/`) && !name.startsWith(`${other}/`),
  );
  return new Map([...others, [name, { content, mode }]]);
}

const without = (files: Files, name: string): Files =>
  new Map([...files].filter(([other]) => other !== name));

function move(files: Files, from: string, to: string): Files {
  const file = files.get(from);
  return file === undefined ? files : put(without(files, from), to, file.content, file.mode);
}

/** One change, of every kind there is. */
function mutate(files: Files, random: () => number): Files {
  const names = [...files.keys()].filter((name) => !name.endsWith('.gitattributes'));
  const name = names[Math.floor(random() * names.length)] ?? '';
  const file = files.get(name);
  const kind = Math.floor(random() * 14);
  if (file === undefined || kind === 0)
    return put(files, `new/${Math.floor(random() * 6)}.txt`, text(random));
  if (file.mode === '160000')
    return put(files, name, String(1 + Math.floor(random() * 3)).repeat(40), file.mode);
  if (kind === 1) return without(files, name);
  if (kind === 2) {
    const renamed = `${random() < 0.5 ? 'moved/' : ''}${Math.floor(random() * 4)}-${name.split('/').at(-1)}`;
    return put(without(files, name), renamed, file.content, file.mode);
  }
  if (kind === 3) return put(files, name, file.content, file.mode === '100755' ? '100644' : '100755');
  if (kind === 4) return put(files, name, `target-${Math.floor(random() * 3)}`, '120000');
  if (kind === 5) return put(files, name, `\0binary ${Math.floor(random() * 3)}\0`);
  if (kind === 6) return put(files, name, file.content.replaceAll('\n', '\r\n'), file.mode);
  if (kind === 7) return put(files, `${name}/inside`, text(random));
  const lines = file.content.split('\n');
  lines.splice(Math.floor(random() * lines.length), Math.floor(random() * 2), line(random));
  return put(files, name, lines.join('\n'), file.mode === '120000' ? '100644' : file.mode);
}

/** A commit whose marks are numbered within its history, so branches are named by whoever comes first. */
function commitOf(
  branch: string,
  mark: number,
  message: string,
  parents: readonly number[],
  files: Files,
): string {
  const who = `Author ${mark} <author-${mark}@example.test> ${1_700_000_000 + mark * 60} +0200`;
  const [first, ...merged] = parents;
  return [
    `commit refs/heads/${branch}`,
    `mark :${mark}`,
    `author ${who}`,
    `committer ${who}`,
    data(message),
    ...(first === undefined ? [] : [`from :${first}`]),
    ...merged.map((parent) => `merge :${parent}`),
    'deleteall',
    ...[...files].flatMap(([name, { content, mode }]) =>
      mode === '160000' ? [`M ${mode} ${content} ${name}`] : [`M ${mode} inline ${name}`, data(content)],
    ),
    '',
    '',
  ].join('\n');
}

const data = (content: string) => `data ${Buffer.byteLength(content)}\n${content}`;
