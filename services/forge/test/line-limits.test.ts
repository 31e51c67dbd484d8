import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

// What is shown beside others, once for each of them, is short: fifty issues of a page would each bring it.

const scene = useForge();
let ada: Person;
beforeAll(async () => {
  ada = scene.person('ada');
  await ada.call('POST', '/user/repos', { name: 'tools' });
  await ada.call('POST', '/repos/ada/tools/labels', { name: 'bug', color: 'ff0000' });
  await ada.call('POST', '/repos/ada/tools/milestones', { title: 'v1' });
  await ada.call('POST', '/repos/ada/tools/issues', { title: 'Issue' });
});

const rows = () => scene.sql.rows`
  select (select json_agg(l order by id) from :schema.labels l) as labels,
    (select json_agg(m order by id) from :schema.milestones m) as milestones,
    (select json_agg(i order by id) from :schema.issues i) as issues`;
const idOf = async (table: string): Promise<number> => {
  const [row] = await scene.sql.rows<Record<string, { id: number; name?: string }[]>>`
    select (select json_agg(l) from :schema.labels l where name = 'bug') as labels,
      (select json_agg(m) from :schema.milestones m where title = 'v1') as milestones`;
  return row?.[table]?.[0]?.id ?? 0;
};

const label = { name: 'l', color: '00ff00' };
const LINES: [what: string, method: string, path: string, field: string, beside: object, longest: number][] =
  [
    ['a label', 'PATCH', '/repos/ada/tools/labels/{labels}', 'description', {}, 255],
    ['a new label', 'POST', '/repos/ada/tools/labels', 'description', label, 255],
    ['a milestone', 'PATCH', '/repos/ada/tools/milestones/{milestones}', 'description', {}, 65_535],
    ['a new milestone', 'POST', '/repos/ada/tools/milestones', 'description', { title: 'v2' }, 65_535],
    ['an issue', 'PATCH', '/repos/ada/tools/issues/1', 'ref', {}, 255],
    ['a new issue', 'POST', '/repos/ada/tools/issues', 'ref', { title: 'Other' }, 255],
  ];

describe('attack: a long text that everything beside it repeats', () => {
  it.each(LINES)('of %s: %s %s, %s', async (_, method, path, field, beside, longest) => {
    const [, table] = /\{(\w+)\}/.exec(path) ?? [];
    const at = table === undefined ? path : path.replace(`{${table}}`, String(await idOf(table)));
    const before = await rows();
    const refused = await ada.call(method, at, { ...beside, [field]: 'x'.repeat(longest + 1) });
    expect([refused.status, refused.body.message]).toEqual([
      422,
      expect.stringContaining(`MaxSize(${longest})`),
    ]);
    expect(await rows()).toEqual(before);
    const taken = await ada.call(method, at, { ...beside, [field]: 'x'.repeat(longest) });
    expect([taken.status < 300, taken.text.includes('x'.repeat(longest))]).toEqual([true, true]);
  });
});
