import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { z } from 'zod';

const require = createRequire(import.meta.url);

/** Folders in which templates are looked for; the first that has any counts. */
export const TEMPLATE_FOLDERS = ['', '.gitea/', '.github/'].flatMap((home) =>
  ['ISSUE_TEMPLATE', 'issue_template'].map((name) => home + name),
);

/** Files that may say how issues are to be opened. */
export const CONFIG_FILES = TEMPLATE_FOLDERS.flatMap((folder) =>
  ['config.yaml', 'config.yml'].map((name) => `${folder}/${name}`),
);

const MAX_DEPTH = 50;

const text = z.string().max(10_000);
/** A list, or its members with commas between them, or nothing. */
const names = z
  .union([z.array(text), text.transform((list) => list.split(',')), z.null()])
  .optional()
  .transform((list) => (list ?? []).map((name) => name.trim()).filter((name) => name !== ''));

const option = z.union([
  text,
  z.object({ label: text, required: z.boolean().optional(), visible: z.array(text).optional() }),
]);
const fieldSchema = z.object({
  type: z.enum(['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']),
  id: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{0,100}$/)
    .optional()
    .default(''),
  attributes: z.object({
    label: text.optional(),
    description: text.optional(),
    placeholder: text.optional(),
    value: text.optional(),
    render: text.optional(),
    multiple: z.boolean().optional(),
    list: z.boolean().optional(),
    default: z.int().optional(),
    options: z.array(option).max(200).optional(),
  }),
  validations: z
    .object({ required: z.boolean().optional(), is_number: z.boolean().optional(), regex: text.optional() })
    .optional()
    .default({}),
  visible: z
    .array(z.enum(['form', 'content']))
    .optional()
    .default(['form', 'content']),
});
const headSchema = z.object({
  name: text.min(1),
  about: text.optional(),
  description: text.optional(),
  title: text.optional().default(''),
  labels: names,
  assignees: names,
  ref: text.optional().default(''),
});
const formSchema = headSchema.extend({ body: z.array(fieldSchema).min(1).max(200) });

/** A template of issues on the wire. */
export const issueTemplateSchema = z.object({
  name: z.string(),
  title: z.string(),
  about: z.string(),
  labels: z.array(z.string()),
  assignees: z.array(z.string()),
  ref: z.string(),
  content: z.string(),
  body: z.array(fieldSchema),
  file_name: z.string(),
});

/** One of them. */
export type IssueTemplate = z.output<typeof issueTemplateSchema>;

/** Whether a file in one of the folders is meant to be a template. */
export function isTemplateName(name: string): boolean {
  return /\.(?:md|ya?ml)$/.test(name) && !/^config\.ya?ml$/.test(name);
}

/**
 * Reads a template: Markdown with a head between lines of three hyphens or without, or a form in YAML.
 * @returns undefined for what is none
 */
export function readTemplate(path: string, content: string): IssueTemplate | undefined {
  const name = path.split('/').at(-1) ?? '';
  if (!isTemplateName(name)) return undefined;
  if (/\.ya?ml$/.test(name)) {
    const form = formSchema.safeParse(readYaml(content));
    return form.success
      ? { ...headOf(form.data), content: '', body: form.data.body, file_name: path }
      : undefined;
  }
  const [, yaml, rest] = /^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(content) ?? [];
  if (yaml === undefined) {
    const plain = {
      name: name.slice(0, -3),
      about: content.slice(0, 80),
      title: '',
      labels: [],
      assignees: [],
      ref: '',
    };
    return { ...plain, content, body: [], file_name: path };
  }
  const head = headSchema.safeParse(readYaml(yaml));
  return head.success ? { ...headOf(head.data), content: rest ?? '', body: [], file_name: path } : undefined;
}

function headOf(head: z.output<typeof headSchema>) {
  return {
    name: head.name,
    title: head.title,
    about: head.about ?? head.description ?? '',
    labels: head.labels,
    assignees: head.assignees,
    ref: head.ref === '' || head.ref.startsWith('refs/') ? head.ref : `refs/heads/${head.ref}`,
  };
}

const configFile = z.strictObject({
  blank_issues_enabled: z.boolean().optional().default(true),
  contact_links: z
    .array(
      z.strictObject({
        name: text.min(1),
        url: z.url({ protocol: /^https?$/ }),
        about: text.min(1),
      }),
    )
    .max(100)
    .optional()
    .default([]),
});

/** How issues are to be opened, on the wire. */
export const issueConfigSchema = z.object({
  blank_issues_enabled: z.boolean(),
  contact_links: z.array(z.object({ name: z.string(), url: z.string(), about: z.string() })),
});

/** What a configuration says; one that cannot be read says nothing, and why it cannot be. */
export function readConfig(content: string | undefined): {
  config: z.output<typeof issueConfigSchema>;
  problem: string;
} {
  const none = { blank_issues_enabled: true, contact_links: [] };
  if (content === undefined) return { config: none, problem: '' };
  const read = configFile.safeParse(readYaml(content) ?? {});
  if (read.success) return { config: read.data, problem: '' };
  const problem = read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  return { config: none, problem: problem.slice(0, 1000) };
}

/**
 * Whether something may be nested deeper than anybody writes by hand: a parser takes long over it. Brackets count
 * wherever they stand; who has fifty of them open in a text does without a template.
 */
function isDeep(content: string): boolean {
  let depth = 0;
  for (const [bracket] of content.matchAll(/[[\]{}]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(depth - 1, 0);
    if (depth > MAX_DEPTH) return true;
  }
  return /^ {200}|^[ \t]*(?:[-?:][ \t]+){20}/m.test(content);
}

const YAML_OPTIONS = {
  schema: 'core',
  maxAliasCount: 20,
  // Each key would be held against all before it: a minute for 64 KiB of them. Of several the last one counts.
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const;

/** A value no schema takes. */
const NOT_YAML = Symbol('not YAML');

/** What stands in YAML; nothing that is not data, and no small text that means a large one. */
function readYaml(content: string): unknown {
  if (isDeep(content)) return NOT_YAML;
  // Seventy modules that no start should wait for.
  const { parse } = require('yaml') as typeof Yaml;
  try {
    return parse(content, YAML_OPTIONS);
  } catch {
    return NOT_YAML;
  }
}
