import { describe, expect, it } from 'vitest';
import { readConfig, readTemplate } from './read-template.ts';

describe('templates of issues', () => {
  it('in Markdown have a head', () => {
    const text =
      '---\nname: Bug\nabout: It breaks\ntitle: "[bug] "\nlabels: a, b\nassignees: [ada]\nref: main\n---\n\nWhat?\n';
    expect(readTemplate('.gitea/ISSUE_TEMPLATE/bug.md', text)).toEqual({
      name: 'Bug',
      about: 'It breaks',
      title: '[bug] ',
      labels: ['a', 'b'],
      assignees: ['ada'],
      ref: 'refs/heads/main',
      content: '\nWhat?\n',
      body: [],
      file_name: '.gitea/ISSUE_TEMPLATE/bug.md',
    });
    expect(readTemplate('x/plain.md', 'Just text')).toMatchObject({
      name: 'plain',
      about: 'Just text',
      content: 'Just text',
    });
  });

  it('in YAML are forms', () => {
    const text = `name: Form
description: Tell us
body:
  - type: markdown
    attributes: { value: Hello }
  - type: dropdown
    id: system
    attributes: { label: System, options: [a, b], multiple: true }
    validations: { required: true }
`;
    expect(readTemplate('f.yaml', text)).toMatchObject({
      name: 'Form',
      about: 'Tell us',
      body: [
        { type: 'markdown', id: '', attributes: { value: 'Hello' } },
        { type: 'dropdown', id: 'system', validations: { required: true } },
      ],
    });
  });

  it('are data, whatever tags they have', () => {
    const text = '---\nname: !!js/function "x"\n---\n';
    expect(readTemplate('a.md', text)).toMatchObject({ name: 'x' });
  });

  it.each([
    ['lines', Array.from({ length: 9000 }, (_, key) => `${key}:`).join('\n')],
    ['braces', `{${Array.from({ length: 13_000 }, (_, key) => key).join(',')}}`],
  ])('have as many keys in %s as fit, and take no minute', (_where, text) => {
    const begin = performance.now();
    expect(readTemplate('a.yaml', text)).toBeUndefined();
    expect(readConfig(text).problem).toContain('Unrecognized');
    expect(performance.now() - begin).toBeLessThan(10_000);
  });

  it('take the last one of two keys of one name', () => {
    expect(readTemplate('a.md', '---\nname: One\nname: Two\n---\n')).toMatchObject({ name: 'Two' });
  });

  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
    .split('')
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[index]}`).join(',')}]`)
    .join('\n')}\nname: *h\n`;
  it.each([
    ['config.yml', 'name: x'],
    ['a.txt', 'name: x'],
    ['a.yaml', 'name: x'],
    ['a.yaml', 'name: x\nbody: []'],
    ['a.yaml', 'name: x\nbody: [{type: evil, attributes: {}}]'],
    ['a.yaml', '{{{'],
    ['a.yaml', ''],
    ['a.yaml', '- a'],
    ['a.yaml', bomb],
    ['a.yaml', '['.repeat(60_000)],
    ['a.yaml', '- '.repeat(30_000)],
    ['a.yaml', '? '.repeat(30_000)],
    ['a.yaml', Array.from({ length: 199 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    ['a.md', '---\nabout: no name\n---\n'],
  ])('%s with %.30j is none', (path, text) => {
    const begin = performance.now();
    expect(readTemplate(path, text)).toBeUndefined();
    expect(performance.now() - begin).toBeLessThan(1000);
  });
});

describe('the configuration', () => {
  it.each([
    [undefined, true],
    ['', true],
    ['blank_issues_enabled: false', true],
    ['contact_links: [{name: a, url: "https://example.test", about: b}]', true],
    ['blank_issues_enabled: maybe', false],
    ['contact_links: [{name: a, url: "javascript:alert(1)", about: b}]', false],
    ['contact_links: [{name: a}]', false],
    ['other: 1', false],
    ['{{{', false],
  ])('%j: %j', (text, valid) => expect(readConfig(text).problem === '').toBe(valid));
});
