import type { Api } from 'gitea-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accessToken, forgeForClients } from './support/forge.ts';
import { NotedClients, refusal } from './support/gitea-client.ts';
import { clientOperations, isAboutFollows } from './support/gitea-operations.ts';

// A real client, gitea-js, for everything that it can do about who follows whom and programs that people sign in to, and for the
// switches of a repository; the last test tells which calls were not made.

const OPERATIONS = clientOperations();
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
let address: string;
const clients = new NotedClients(() => address, OPERATIONS);
let ada: Api<unknown>;
let ben: Api<unknown>;

beforeAll(async () => {
  ({ address } = stack.use(await forgeForClients()));
  ada = clients.client(accessToken('ada'));
  ben = clients.client(accessToken('ben'));
  for (const who of [ada, ben]) await who.user.userGetCurrent();
});

const logins = (list: readonly { login?: string }[]) => list.map(({ login }) => login);

it('people follow each other, and no longer', async () => {
  expect(await refusal(ada.user.userCurrentCheckFollowing('ben'))).toBe(404);
  expect((await ada.user.userCurrentPutFollow('ben')).status).toBe(204);
  expect((await ada.user.userCurrentCheckFollowing('ben')).status).toBe(204);
  expect((await ben.users.userCheckFollowing('ada', 'ben')).status).toBe(204);
  expect(await refusal(ben.users.userCheckFollowing('ben', 'ada'))).toBe(404);
  for (const list of [
    ada.user.userCurrentListFollowing(),
    ben.users.userListFollowing('ada'),
    ben.users.userListFollowing('ada', { page: 1, limit: 1 }),
  ]) {
    expect(logins((await list).data)).toEqual(['ben']);
  }
  for (const list of [ben.user.userCurrentListFollowers(), ada.users.userListFollowers('ben')])
    expect(logins((await list).data)).toEqual(['ada']);
  expect((await ada.users.userGet('ben')).data).toMatchObject({ followers_count: 1, following_count: 0 });
  expect((await ada.user.userGetCurrent()).data).toMatchObject({ followers_count: 0, following_count: 1 });
  expect((await ada.user.userCurrentDeleteFollow('ben')).status).toBe(204);
  expect((await ben.user.userCurrentListFollowers()).data).toEqual([]);
  expect(await refusal(ada.user.userCurrentPutFollow('nobody'))).toBe(404);
});

it('a repository does without time tracking and dependencies', async () => {
  const at = ['ada', 'garden'] as const;
  await ada.user.createCurrentUserRepo({ name: 'garden' });
  const { number = 0 } = (await ada.repos.issueCreateIssue(...at, { title: 'Weed' })).data;
  const off = {
    enable_time_tracker: false,
    allow_only_contributors_to_track_time: true,
    enable_issue_dependencies: false,
  };
  const edited = await ada.repos.repoEdit(...at, { internal_tracker: off });
  expect(edited.data.internal_tracker).toEqual(off);
  expect((await ben.repos.repoGet(...at)).data.internal_tracker).toEqual(off);
  expect(await refusal(ada.repos.issueAddTime(...at, number, { time: 60 }))).toBe(400);
  expect(await refusal(ada.repos.issueTrackedTimes(...at, number))).toBe(404);
  expect(await refusal(ada.repos.repoTrackedTimes(...at))).toBe(400);
  expect(await refusal(ada.repos.issueStartStopWatch(...at, number))).toBe(403);
  expect(await refusal(ada.repos.issueListIssueDependencies(...at, String(number)))).toBe(404);
});

it('programs are registered, changed and deleted', async () => {
  const wish = { name: 'CI', confidential_client: true, redirect_uris: ['https://ci.example/authorize'] };
  const { data: made } = await ada.user.userCreateOAuth2Application(wish);
  expect(made).toMatchObject({ ...wish, client_secret: expect.stringMatching(/./) });
  const { id = 0 } = made;
  expect((await ada.user.userGetOAuth2Application(id)).data).toEqual({ ...made, client_secret: '' });
  expect((await ada.user.userGetOauth2Application({ page: 1, limit: 5 })).data).toHaveLength(1);
  const edited = await ada.user.userUpdateOAuth2Application(id, { ...wish, name: 'Woodpecker' });
  expect(edited.data).toMatchObject({ name: 'Woodpecker', client_id: made.client_id });
  expect(await refusal(ben.user.userDeleteOAuth2Application(id))).toBe(404);
  expect((await ada.user.userDeleteOAuth2Application(id)).status).toBe(204);
});

it('is all that the client can do about following and programs', () => {
  const operations = OPERATIONS.filter(isAboutFollows);
  expect(operations).toHaveLength(13);
  expect(clients.unanswered(operations)).toEqual([]);
});
