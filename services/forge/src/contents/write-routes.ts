import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { endpoint } from '../endpoint.ts';
import { unacceptable } from '../failures.ts';
import { readBase64 } from '../rules/files/base64.ts';
import { checkFilePath } from '../rules/files/file-path.ts';
import { readBodyTime } from '../rules/requests/read-time.ts';
import { errorSchema, optional, repositoryPath, requiredText } from '../wire-schemas.ts';
import { changeFiles, type FilesChanged } from './change-files.ts';
import { fileAnswerJson, fileAnswerSchema, filesAnswerJson, filesAnswerSchema } from './file-answer-json.ts';
import type { FileChange } from './plan-changes.ts';

/** A file of ten MiB in base64, and what comes with it. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const MAX_FILES = 1000;
/** Of all paths together: each may be a folder that is made, and so an object that is written. */
const MAX_PARTS = 20_000;
const LAST_YEAR = 9999;

const filePath = repositoryPath.extend({ '*': z.string() });
const identity = z
  .object({
    name: z
      .string()
      .regex(/^[^\0]*$/)
      .max(100, 'MaxSize(100)')
      .nullish(),
    email: z
      .string()
      .regex(/^[^\0]*$/)
      .max(254, 'MaxSize(254)')
      .nullish(),
  })
  .nullish();
/** What every change of files has. */
const fields = {
  message: optional.text,
  branch: optional.text,
  new_branch: optional.text,
  author: identity,
  committer: identity,
  dates: z.object({ author: optional.time, committer: optional.time }).nullish(),
  signoff: optional.boolean,
};
const fileFields = { ...fields, content: optional.text, sha: optional.text, from_path: optional.text };
const answers = {
  403: errorSchema,
  404: errorSchema,
  409: errorSchema,
  422: errorSchema,
  423: errorSchema,
};

type Fields = z.output<z.ZodObject<typeof fields>>;
type FileFields = z.output<z.ZodObject<typeof fileFields>>;
type Path = z.output<typeof filePath>;

/** `POST /repos/{owner}/{repo}/contents/{filepath}` */
export const create = endpoint({
  summary: 'Add a file',
  access: 'caller',
  area: 'repository',
  bodyBytes: MAX_BODY_BYTES,
  params: filePath,
  body: z.object(fileFields),
  answers: { 201: fileAnswerSchema, ...answers },
  async handle({ params, body, caller }, context) {
    const changed = await changeOne(context, caller, params, body, 'create');
    return { status: 201, body: fileAnswerJson(changed, context.links) };
  },
});

/** `PUT /repos/{owner}/{repo}/contents/{filepath}` */
export const update = endpoint({
  summary: 'Change a file, or add it when there is none and no `sha` expects one',
  access: 'caller',
  area: 'repository',
  bodyBytes: MAX_BODY_BYTES,
  params: filePath,
  body: z.object(fileFields),
  answers: { 200: fileAnswerSchema, 201: fileAnswerSchema, ...answers },
  async handle({ params, body, caller }, context) {
    const changed = await changeOne(context, caller, params, body, 'put');
    const status = changed.files[0]?.created ? 201 : 200;
    return { status, body: fileAnswerJson(changed, context.links) };
  },
});

/** `DELETE /repos/{owner}/{repo}/contents/{filepath}`, with a body */
export const remove = endpoint({
  summary: 'Delete a file',
  access: 'caller',
  area: 'repository',
  params: filePath,
  body: z.object({ ...fields, sha: requiredText }),
  answers: { 200: fileAnswerSchema, ...answers },
  async handle({ params, body, caller }, context) {
    const changed = await changeOne(context, caller, params, body, 'delete');
    return { status: 200, body: fileAnswerJson(changed, context.links) };
  },
});

/** `POST /repos/{owner}/{repo}/contents` */
export const several = endpoint({
  summary: 'Change several files in one commit',
  access: 'caller',
  area: 'repository',
  bodyBytes: MAX_BODY_BYTES,
  params: repositoryPath,
  body: z.object({
    ...fields,
    files: z
      .array(
        z.object({
          operation: z.enum(['create', 'update', 'upload', 'rename', 'delete']),
          path: requiredText,
          content: optional.text,
          sha: optional.text,
          from_path: optional.text,
        }),
      )
      .min(1, 'Required')
      .max(MAX_FILES, `MaxSize(${MAX_FILES})`),
  }),
  answers: { 201: filesAnswerSchema, ...answers },
  async handle({ params, body, caller }, context) {
    const files = body.files.map((file) => readChange(file.operation, file.path, file));
    if (files.reduce((parts, { path }) => parts + path.split('/').length, 0) > MAX_PARTS)
      throw unacceptable(`[Files]: the paths have more than ${MAX_PARTS} names together`);
    const changed = await changeFiles(context, caller, params, { ...commitOf(body), files });
    return { status: 201, body: filesAnswerJson(changed, context.links) };
  },
});

async function changeOne(
  context: Context,
  caller: Caller,
  { '*': path, ...repository }: Path,
  body: Fields & Partial<FileFields>,
  operation: FileChange['operation'],
): Promise<FilesChanged> {
  const files = [readChange(operation, path, body)];
  return await changeFiles(context, caller, repository, { ...commitOf(body), files });
}

/** @throws 422 for a path or a content that is none */
function readChange(
  operation: FileChange['operation'],
  path: string,
  given: {
    content?: string | null | undefined;
    sha?: string | null | undefined;
    from_path?: string | null | undefined;
  },
): FileChange {
  const moves = operation !== 'create' && operation !== 'delete' && Boolean(given.from_path);
  if (operation === 'rename' && !moves) throw unacceptable('[FromPath]: Required');
  // Who moves a file need not say what is in it.
  const isLeft = operation === 'rename' || (moves && (given.content ?? '') === '');
  const hasContent = operation !== 'delete' && !isLeft;
  const content = hasContent ? readBase64(given.content ?? '') : undefined;
  if (hasContent && content === undefined) throw unacceptable('[Content]: the content is not base64');
  return {
    operation,
    path: checkFilePath(path),
    content,
    sha: given.sha ?? '',
    fromPath: moves ? checkFilePath(given.from_path ?? '') : undefined,
  };
}

function commitOf(body: Fields) {
  return {
    message: body.message ?? '',
    branch: body.branch ?? '',
    newBranch: body.new_branch ?? '',
    author: body.author,
    committer: body.committer,
    authoredAt: readDate(body.dates?.author),
    committedAt: readDate(body.dates?.committer),
    signOff: body.signoff ?? false,
  };
}

/** @throws 422 for a time that git cannot keep */
function readDate(text: string | null | undefined): Date | undefined {
  const date = readBodyTime(text);
  if (date !== undefined && !(date.getTime() >= 0 && date.getUTCFullYear() <= LAST_YEAR))
    throw unacceptable('[Dates]: git keeps times from 1970 on');
  return date;
}
