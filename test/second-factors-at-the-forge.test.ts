import { git } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type App,
  type Guarded,
  type GuardedServices,
  guardedServices,
  send,
} from './support/guarded-services.ts';

// Whoever has a second factor is not signed in at the forge by his password alone, on no way to the API or to git.

const NEEDED =
  'this account has a second factor, so its password is not enough: use an access token in its place';
const WRONG = 'the code of the second factor is wrong or was used before';
let services: GuardedServices;
let ada: Guarded;
let app: App;
/** One without a second factor. */
let bob: Guarded;

beforeAll(async () => {
  services = await guardedServices();
  [ada, bob] = [await services.person('ada'), await services.person('bob')];
  app = await ada.enrol();
});
afterAll(() => services[Symbol.asyncDispose]());

const api = (path: string, authorization: string, code?: string, method = 'GET', body?: unknown, from = '') =>
  send(
    `${services.forge}/api/v1${path}`,
    method,
    {
      authorization,
      ...(code === undefined ? {} : { 'X-Gitea-OTP': code }),
      ...(from === '' ? {} : { 'x-forwarded-for': from }),
    },
    body,
  );
const basic = (name: string, password: string) =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

describe('a password alone', () => {
  it('of whoever has no second factor is enough', async () => {
    expect((await api('/user', bob.basic)).body['login']).toBe('bob');
    // A code that nobody needs does not matter.
    expect((await api('/user', bob.basic, '123456')).status).toBe(200);
  });

  it('is not enough with one, and its owner is told what to do', async () => {
    const before = await services.kept();
    for (const authorization of [ada.basic, basic(ada.email, ada.password)]) {
      for (const [path, method, body] of [
        ['/user', 'GET', undefined],
        ['/users/ada/tokens', 'POST', { name: 'stolen', scopes: ['all'] }],
        ['/user/repos', 'POST', { name: 'stolen' }],
      ] as const) {
        const { status, headers, body: said } = await api(path, authorization, undefined, method, body);
        expect([status, headers.get('www-authenticate')]).toEqual([401, null]);
        expect(said['message']).toContain(`${NEEDED}, or on the API send the code`);
        expect(said['url']).toContain('/api/');
      }
    }
    expect(await services.kept()).toEqual(before);
  });

  it('tells nobody who does not have it: a wrong one, an unknown name and a code beside them are all alike', async () => {
    const before = await services.kept();
    const strangers = [
      [basic('ada', 'wrong'), undefined],
      [basic('bob', 'wrong'), undefined],
      [basic('nobody', 'wrong'), undefined],
      [basic('ada', 'wrong'), app.next()],
    ] as const;
    const answers = await Promise.all(strangers.map(([pair, code]) => api('/user', pair, code)));
    for (const { status, body } of answers)
      expect([status, body['message']]).toEqual([401, 'invalid username, password or token']);
    expect(await services.kept()).toEqual(before);
    // The code beside a wrong password was not used up.
    expect((await api('/user', ada.basic, strangers[3][1])).status).toBe(200);
  });

  it('counts again for whoever took the factor away', async () => {
    const carol = await services.person('carol');
    const { id, session } = await carol.enrol();
    expect((await api('/user', carol.basic)).status).toBe(401);
    services.advance(61_000);
    const authorization = `Bearer ${session.access_token}`;
    // The forge knows of it by now.
    expect((await api('/user', authorization)).status).toBe(200);
    expect((await api('/user', `Bearer ${carol.session.access_token}`)).status).toBe(401);
    expect((await send(`${services.auth}/factors/${id}`, 'DELETE', { authorization })).status).toBe(200);
    expect((await api('/user', carol.basic)).status).toBe(200);
  });

  it('is not enough with a phone either, whose codes only auth takes', async () => {
    const pia = await services.person('pia');
    const hers = await pia.enrol();
    await services.turnIntoPhone(hers.id);
    const before = await services.kept();
    expect((await api('/user', pia.basic)).body['message']).toBe(NEEDED);
    expect((await api('/user', pia.basic, hers.next())).body['message']).toBe(WRONG);
    expect(await services.kept()).toEqual(before);
    expect((await api('/user', `Bearer ${hers.session.access_token}`)).status).toBe(200);
  });

  it('is forgotten a minute after its owner got a factor', async () => {
    const dora = await services.person('dora');
    expect((await api('/user', dora.basic)).status).toBe(200);
    await dora.enrol();
    services.advance(61_000);
    // What was remembered of the password serves no more, whatever the clock of the memory says.
    expect((await api('/user', dora.basic)).status).toBe(401);
  });
});

describe('X-Gitea-OTP', () => {
  it('with the code signs in, and leaves no session behind', async () => {
    const before = await services.kept();
    const { status, body } = await api('/user', ada.basic, app.next());
    expect([status, body['login']]).toEqual([200, 'ada']);
    expect(await services.kept()).toEqual(before);
  });

  it('makes a token as tea does, which lists them first with the same code', async () => {
    const code = app.next();
    expect((await api('/users/ada/tokens', ada.basic, code)).status).toBe(200);
    const made = await api('/users/ada/tokens', ada.basic, code, 'POST', { name: 'tea', scopes: ['all'] });
    expect(made.status).toBe(201);
    const token = `token ${String(made.body['sha1'])}`;
    expect((await api('/user', token)).body['login']).toBe('ada');
    expect((await api('/user', basic('ada', String(made.body['sha1'])))).status).toBe(200);
  });

  it('with a code that was used is refused: elsewhere at the forge, and at auth before', async () => {
    const code = app.next();
    expect((await api('/user', ada.basic, code)).status).toBe(200);
    const before = await services.kept();
    const again = await api('/user', ada.basic, code, 'GET', undefined, '203.0.113.7');
    expect([again.status, again.body['message']]).toEqual([401, WRONG]);
    // The memory is for the very password: nobody passes with the code alone.
    expect((await api('/user', basic('ada', 'wrong'), code)).status).toBe(401);
    expect(await services.kept()).toEqual(before);
  });

  it('of many requests at once with one code from several places lets one place in', async () => {
    const code = app.next();
    const from = ['203.0.113.1', '203.0.113.2', '203.0.113.3', '203.0.113.4'];
    const answers = await Promise.all(
      from.map((one) => api('/user', ada.basic, code, 'GET', undefined, one)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  it('with a wrong one is refused, of somebody else as well, and changes nothing', async () => {
    const eve = await services.person('eve');
    const hers = await eve.enrol();
    const before = await services.kept();
    for (const code of [hers.wrong(), hers.wrong().slice(1), 'x', '-'.repeat(4000), app.next()]) {
      const wanted = { name: 'stolen', scopes: ['all'] };
      const { status, body } = await api('/users/eve/tokens', eve.basic, code, 'POST', wanted);
      expect([status, body['message']]).toEqual([401, WRONG]);
    }
    expect((await api('/user', eve.basic, '')).body['message']).toContain(NEEDED);
    expect(await services.kept()).toEqual(before);
  });

  it('guessed too often is not looked at any more, right or wrong', async () => {
    const finn = await services.person('finn');
    const his = await finn.enrol();
    services.advance(31_000);
    const before = await services.kept();
    const statuses = [];
    for (let guess = 0; guess < 6; guess++)
      statuses.push((await api('/user', finn.basic, his.wrong())).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    const right = await api('/user', finn.basic, his.next());
    expect([right.status, Number(right.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await services.kept()).toEqual(before);
  });

  it('guessed at one app does not keep the others out', async () => {
    const kim = await services.person('kim');
    const first = await kim.enrol();
    const second = await kim.enrol(first.session);
    services.advance(31_000);
    const authorization = `Bearer ${(await kim.signIn()).access_token}`;
    const guess = async () => {
      const factor = `${services.auth}/factors/${first.id}`;
      const { body } = await send(`${factor}/challenge`, 'POST', { authorization }, {});
      const answer = { challenge_id: body['id'], code: first.wrong() };
      return (await send(`${factor}/verify`, 'POST', { authorization }, answer)).status;
    };
    const guesses = [];
    for (let count = 0; count < 6; count++) guesses.push(await guess());
    expect(guesses.at(-1)).toBe(429);
    expect((await api('/user', kim.basic, first.next())).status).toBe(429);
    expect((await api('/user', kim.basic, second.next())).status).toBe(200);
  });

  it('takes the code of any of several apps, and a recovery code once', async () => {
    const gil = await services.person('gil');
    const first = await gil.enrol();
    const second = await gil.enrol(first.session);
    for (const one of [first, second, first]) {
      services.advance(31_000);
      expect((await api('/user', gil.basic, one.next())).status).toBe(200);
    }
    const authorization = `Bearer ${second.session.access_token}`;
    const made = await send(`${services.auth}/factors/recovery-codes`, 'POST', { authorization }, {});
    const [code = ''] = made.body['codes'] as string[];
    expect((await api('/user', gil.basic, code)).status).toBe(200);
    const again = await api('/user', gil.basic, code, 'GET', undefined, '203.0.113.7');
    expect([again.status, again.body['message']]).toEqual([401, WRONG]);
  });
});

describe('an access token of auth', () => {
  it('of a session that the password alone opened is not enough either, in whatever place', async () => {
    const { access_token: token } = await ada.signIn();
    const before = await services.kept();
    for (const authorization of [`Bearer ${token}`, `token ${token}`, basic('ada', token)]) {
      const wanted = { name: 'stolen', scopes: ['all'] };
      const { status, body } = await api('/users/ada/tokens', authorization, app.next(), 'POST', wanted);
      expect([status, body['message']]).toEqual([401, expect.stringContaining('has not shown it (aal1)')]);
    }
    const userinfo = { authorization: `Bearer ${token}` };
    expect((await send(`${services.forge}/login/oauth/userinfo`, 'GET', userinfo)).status).toBe(401);
    expect(await services.kept()).toEqual(before);
  });

  it('of a session that showed the factor is', async () => {
    expect((await api('/user', `Bearer ${app.session.access_token}`)).status).toBe(200);
  });

  it('of somebody new who has not shown it makes no account', async () => {
    const hal = await services.person('hal', { comesToForge: false });
    const his = await hal.enrol();
    const { access_token: token } = await hal.signIn();
    const before = await services.kept();
    expect((await api('/user', `Bearer ${token}`)).status).toBe(401);
    expect((await api('/user', basic(hal.email, hal.password))).status).toBe(401);
    expect(await services.kept()).toEqual(before);
    expect((await api('/user', `Bearer ${his.session.access_token}`)).status).toBe(200);
    expect((await api('/user', `Bearer ${token}`)).status).toBe(401);
  });

  it('is enough while a factor was only begun', async () => {
    const { session, basic: pair } = await services.person('ida');
    const authorization = `Bearer ${session.access_token}`;
    await send(`${services.auth}/factors`, 'POST', { authorization }, { factor_type: 'totp' });
    services.advance(61_000);
    expect((await api('/user', authorization)).status).toBe(200);
    expect((await api('/user', pair)).status).toBe(200);
  });
});

describe('git', () => {
  it('is refused a password alone and shows its user why, and works with a token', async () => {
    const token = (
      await api('/users/ada/tokens', ada.basic, app.next(), 'POST', { name: 'git', scopes: ['all'] })
    ).body['sha1'];
    await api('/user/repos', `token ${String(token)}`, undefined, 'POST', {
      name: 'garden',
      private: true,
      auto_init: true,
    });
    const remote = (password: string) =>
      `${services.forge.replace('://', `://ada:${encodeURIComponent(password)}@`)}/ada/garden.git`;
    const clone = (password: string, folder: string) =>
      git(services.folder, 'clone', '-q', remote(password), folder);
    await expect(clone(ada.password, 'refused')).rejects.toThrow(`remote: ${NEEDED}`);
    await expect(clone('wrong', 'wrong')).rejects.not.toThrow('second factor');
    await clone(String(token), 'cloned');
    const before = await services.kept();
    await git(`${services.folder}/cloned`, 'commit', '-q', '--allow-empty', '-m', 'stolen');
    const push = git(`${services.folder}/cloned`, 'push', '-q', remote(ada.password), 'HEAD:stolen');
    await expect(push).rejects.toThrow(`remote: ${NEEDED}`);
    expect(await services.kept()).toEqual(before);
    expect((await api('/repos/ada/garden/branches/stolen', `token ${String(token)}`)).status).toBe(404);
    // Codes are for the API.
    const answer = await fetch(`${services.forge}/ada/garden.git/info/refs?service=git-upload-pack`, {
      headers: { authorization: ada.basic, 'X-Gitea-OTP': app.next() },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'text/plain; charset=utf-8']);
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="Gitea"');
    // A file of such a name is none of git's.
    const file = await api('/repos/ada/garden/contents/info/refs', ada.basic);
    expect([file.status, file.body['message']]).toEqual([401, expect.stringContaining(NEEDED)]);
  });
});
