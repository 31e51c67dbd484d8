import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { errorSchema, pageParameters } from '../wire-schemas.ts';
import { findPerson } from './find-user.ts';

// Neither SSH nor signatures are served, so nobody has keys. Clients ask for them when somebody signs in.

const none = z.array(z.never());

const ofCaller = (summary: string) =>
  endpoint({
    summary,
    access: 'caller',
    area: 'user',
    query: z.object(pageParameters),
    answers: { 200: none },
    async handle() {
      return { status: 200, headers: { 'x-total-count': '0' }, body: [] };
    },
  });

const ofPerson = (summary: string) =>
  endpoint({
    summary,
    access: 'reader',
    area: 'user',
    params: z.object({ username: z.string() }),
    query: z.object(pageParameters),
    answers: { 200: none, 404: errorSchema },
    async handle({ params }, context) {
      await findPerson(context, params.username);
      return { status: 200, headers: { 'x-total-count': '0' }, body: [] };
    },
  });

/** `GET /user/keys` */
export const own = ofCaller("The caller's SSH keys, which are none");
/** `GET /user/gpg_keys` */
export const ownGpg = ofCaller("The caller's GPG keys, which are none");
/** `GET /users/{username}/keys` */
export const ofUser = ofPerson('SSH keys of a person, which are none');
/** `GET /users/{username}/gpg_keys` */
export const gpgOfUser = ofPerson('GPG keys of a person, which are none');
