import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { errorSchema, pageParameters, repositoryPath } from '../wire-schemas.ts';
import { listQueue } from './list-queue.ts';
import { queueEntrySchema } from './queue-json.ts';

/** `GET /repos/{owner}/{repo}/merge_queue/{branch}` */
export const list = endpoint({
  summary: 'Pull requests that wait to be merged into a branch, the next one first',
  access: 'reader',
  area: 'repository',
  params: repositoryPath.extend({ '*': z.string() }),
  query: z.object(pageParameters),
  answers: { 200: z.array(queueEntrySchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    const path = { ...params, branch: params['*'] };
    return listAnswer(context, url, await listQueue(context, caller, path, query));
  },
});
