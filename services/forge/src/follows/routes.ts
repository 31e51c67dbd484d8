import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { findPerson } from '../users/find-user.ts';
import { userSchema } from '../users/user-json.ts';
import { emptySchema, errorSchema, pageParameters } from '../wire-schemas.ts';
import { checkFollowing, followPerson, unfollowPerson } from './follow-person.ts';
import { listFollows } from './list-follows.ts';

const personPath = z.object({ username: z.string() });
type Side = 'followers' | 'following';
const answers = { 204: emptySchema, 404: errorSchema };

const ofCaller = (summary: string, side: Side) =>
  endpoint({
    summary,
    access: 'caller',
    area: 'user',
    query: z.object(pageParameters),
    answers: { 200: z.array(userSchema) },
    async handle({ query, caller, url }, context) {
      return listAnswer(context, url, await listFollows(context, caller, caller.userId, side, query));
    },
  });

const ofPerson = (summary: string, side: Side) =>
  endpoint({
    summary,
    access: 'reader',
    area: 'user',
    params: personPath,
    query: z.object(pageParameters),
    answers: { 200: z.array(userSchema), 404: errorSchema },
    async handle({ params, query, caller, url }, context) {
      const person = await findPerson(context, params.username);
      return listAnswer(context, url, await listFollows(context, caller, person.id, side, query));
    },
  });

/** `GET /user/followers` */
export const ownFollowers = ofCaller('People who follow the caller', 'followers');
/** `GET /user/following` */
export const ownFollowing = ofCaller('People whom the caller follows', 'following');
/** `GET /users/{username}/followers` */
export const followersOf = ofPerson('People who follow a person', 'followers');
/** `GET /users/{username}/following` */
export const followingOf = ofPerson('People whom a person follows', 'following');

/** `GET /user/following/{username}` */
export const check = endpoint({
  summary: 'Whether the caller follows a person',
  access: 'caller',
  area: 'user',
  params: personPath,
  answers,
  async handle({ params, caller }, context) {
    await checkFollowing(context, caller.userId, params.username);
    return { status: 204 };
  },
});

/** `PUT /user/following/{username}` */
export const follow = endpoint({
  summary: 'Follow a person',
  access: 'caller',
  area: 'user',
  params: personPath,
  answers,
  async handle({ params, caller }, context) {
    await followPerson(context, caller, params.username);
    return { status: 204 };
  },
});

/** `DELETE /user/following/{username}` */
export const unfollow = endpoint({
  summary: 'Follow a person no longer',
  access: 'caller',
  area: 'user',
  params: personPath,
  answers,
  async handle({ params, caller }, context) {
    await unfollowPerson(context, caller, params.username);
    return { status: 204 };
  },
});

/** `GET /users/{username}/following/{target}` */
export const checkOfPerson = endpoint({
  summary: 'Whether a person follows another',
  access: 'reader',
  area: 'user',
  params: personPath.extend({ target: z.string() }),
  answers,
  async handle({ params }, context) {
    const person = await findPerson(context, params.username);
    await checkFollowing(context, person.id, params.target);
    return { status: 204 };
  },
});
