import { dirname, join } from 'node:path';
import type { Context } from '../context.ts';

/** The folder of attachments, beside that of the repositories in the data folder. */
export const attachmentFolder = ({ git }: Context) => join(dirname(git.folder), 'attachments');

/** Where an attachment is kept: named after its row's id, never after anything from a request. */
export const attachmentFile = (context: Context, id: number) => join(attachmentFolder(context), String(id));
