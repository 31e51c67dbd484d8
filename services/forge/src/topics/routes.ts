import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../failures.ts';
import { listAnswer, pageOf } from '../list-answer.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { readTopics } from '../rules/repositories/topics.ts';
import {
  emptySchema,
  errorSchema,
  optional,
  pageParameters,
  parameter,
  repositoryPath,
} from '../wire-schemas.ts';
import { changeTopics } from './change-topics.ts';
import { searchTopics } from './search-topics.ts';

const topicPath = repositoryPath.extend({ topic: z.string() });
const changeAnswers = {
  204: emptySchema,
  403: errorSchema,
  404: errorSchema,
  422: errorSchema.extend({ invalidTopics: z.array(z.string()).optional() }),
  423: errorSchema,
};

/** `GET /repos/{owner}/{repo}/topics` */
export const list = endpoint({
  summary: 'What a repository is filed under',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: z.object(pageParameters),
  answers: { 200: z.object({ topics: z.array(z.string()) }), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    const { repository } = await findRepository(context, caller, params);
    const page = pageOf(context, query);
    const items = repository.topics.slice(page.offset, page.offset + page.limit);
    const answer = listAnswer(context, url, { page, total: repository.topics.length, items });
    return { ...answer, body: { topics: items } };
  },
});

/** `PUT /repos/{owner}/{repo}/topics` */
export const replace = endpoint({
  summary: 'File a repository under other topics',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({ topics: optional.texts }),
  answers: changeAnswers,
  async handle({ params, body, caller }, context) {
    await changeTopics(context, caller, params, () => body.topics ?? []);
    return { status: 204 };
  },
});

/** `PUT /repos/{owner}/{repo}/topics/{topic}` */
export const add = endpoint({
  summary: 'File a repository under one more topic',
  access: 'caller',
  area: 'repository',
  params: topicPath,
  answers: changeAnswers,
  async handle({ params, caller }, context) {
    await changeTopics(context, caller, params, (now) => [...now, ...oneTopic(params.topic)]);
    return { status: 204 };
  },
});

/** `DELETE /repos/{owner}/{repo}/topics/{topic}` */
export const remove = endpoint({
  summary: 'Take a topic from a repository',
  access: 'caller',
  area: 'repository',
  params: topicPath,
  answers: changeAnswers,
  async handle({ params, caller }, context) {
    await changeTopics(context, caller, params, (now) => {
      const gone = oneTopic(params.topic);
      if (!now.some((topic) => gone.includes(topic))) throw notFound();
      return now.filter((topic) => !gone.includes(topic));
    });
    return { status: 204 };
  },
});

/** `GET /topics/search` */
export const search = endpoint({
  summary: 'Topics of repositories that the caller may know of',
  access: 'reader',
  area: 'repository',
  query: z.object({ q: parameter, ...pageParameters }),
  answers: {
    200: z.object({
      topics: z.array(
        z.object({
          id: z.int(),
          topic_name: z.string(),
          repo_count: z.int(),
          created: z.string(),
          updated: z.string(),
        }),
      ),
    }),
  },
  async handle({ query, caller, url }, context) {
    const found = await searchTopics(context, caller, query);
    return { ...listAnswer(context, url, found), body: { topics: found.items } };
  },
});

/** The topic of a path, checked by itself; an empty one is nothing. */
const oneTopic = (text: string): string[] => readTopics([text]);
