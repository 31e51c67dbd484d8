import { monitorEventLoopDelay } from 'node:perf_hooks';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let eve: Person;
let tree: string;
beforeAll(async () => {
  ada = scene.person('ada');
  eve = scene.person('eve');
  await eve.call('GET', '/user');
  tree = await pushedRepository(ada, 'tools', scene.folder, { private: true });
  await ada.call('POST', '/user/repos', { name: 'empty' });
});
const get = (what: string, who = ada, repo = 'tools') => who.call('GET', `/repos/ada/${repo}/${what}`);
async function push(files: Record<string, string | null>) {
  await commit(tree, files, 'templates');
  await git(tree, 'push', '-q', 'origin', 'main');
}

describe('templates of issues', () => {
  it('are none where there are none', async () => {
    for (const repo of ['tools', 'empty']) {
      expect((await get('issue_templates', ada, repo)).items).toEqual([]);
      expect((await get('issue_config', ada, repo)).body).toEqual({
        blank_issues_enabled: true,
        contact_links: [],
      });
      expect((await get('issue_config/validate', ada, repo)).body).toEqual({ valid: true, message: '' });
    }
  });

  it('come from the default branch, hostile ones left out', async () => {
    await push({
      '.gitea/ISSUE_TEMPLATE/bug.md': '---\nname: Bug\nabout: It breaks\n---\nWhat?\n',
      '.gitea/ISSUE_TEMPLATE/form.yaml':
        'name: Form\nabout: x\nbody:\n  - type: input\n    attributes: { label: Version }\n',
      '.gitea/ISSUE_TEMPLATE/broken.yaml': '{{{',
      '.gitea/ISSUE_TEMPLATE/huge.md': 'x'.repeat(100_000),
      '.gitea/ISSUE_TEMPLATE/deep/er.md': 'x',
      '.gitea/ISSUE_TEMPLATE/config.yml': 'blank_issues_enabled: false\n',
    });
    const list = await get('issue_templates');
    expect(list.status, list.text).toBe(200);
    expect(list.headers.get('x-gitea-warning')).toBe('error occurs when parsing issue template: count=2');
    expect(list.items.map((one) => [one['name'], one['file_name']])).toEqual([
      ['Bug', '.gitea/ISSUE_TEMPLATE/bug.md'],
      ['Form', '.gitea/ISSUE_TEMPLATE/form.yaml'],
    ]);
    expect((await get('issue_config')).body).toEqual({ blank_issues_enabled: false, contact_links: [] });
    await push({ '.gitea/ISSUE_TEMPLATE/config.yml': 'blank_issues_enabled: perhaps\n' });
    expect((await get('issue_config')).body).toEqual({ blank_issues_enabled: true, contact_links: [] });
    expect((await get('issue_config/validate')).body).toMatchObject({
      valid: false,
      message: expect.stringContaining('blank_issues_enabled'),
    });
  });

  it('of a megabyte and more hold up nobody: those that fit are told, the others counted', async () => {
    const folder = '.gitea/ISSUE_TEMPLATE';
    const long = (n: number) => `n${n}: 1\n${Array.from({ length: 9000 }, (_, key) => `${key}:`).join('\n')}`;
    const many = Array.from({ length: 40 }, (_, n) => [`${folder}/many-${10 + n}.yaml`, long(n)]);
    await push({ ...Object.fromEntries(many), [`${folder}/small.md`]: '---\nname: Small\n---\n' });
    const delay = monitorEventLoopDelay();
    delay.enable();
    const [list, again] = [await get('issue_templates'), await get('issue_templates')];
    delay.disable();
    expect(list.items.map((one) => one['name'])).toEqual(['Bug', 'Form', 'Small']);
    expect(list.headers.get('x-gitea-warning')).toContain('count=42');
    expect(again.text).toBe(list.text);
    // In nanoseconds: one file takes a third of a second of an idle machine.
    expect(delay.max / 1e9).toBeLessThan(8);
  });

  it('are not for those who do not read the code', async () => {
    for (const what of ['issue_templates', 'issue_config', 'issue_config/validate'])
      expect((await get(what, eve)).status).toBe(404);
  });
});
