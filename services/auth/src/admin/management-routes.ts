import type { App } from '@croft/http';
import { z } from 'zod';
import { timestamp, userJson } from '../account/user-json.ts';
import { originOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { lenientBody, queryText } from '../requests.ts';
import { errorBody, userBody } from '../responses.ts';
import { pageLinks, readOldestFirst, readPage, readPart } from '../rules/users/admin-page.ts';
import { checkUserId } from '../rules/users/admin-user.ts';
import type { Administrators } from './administrators.ts';
import { deleteUser } from './delete-user.ts';
import { endSessions } from './end-sessions.ts';
import { listAudit } from './list-audit.ts';
import { listUsers } from './list-users.ts';
import { listUsersAfter } from './list-users-after.ts';

const security = [{ bearer: [] }];
const tags = ['administration'];
const refusals = { 400: errorBody, 401: errorBody, 403: errorBody };
const userIdPath = z.object({ user_id: z.string() });
const nothing = z.object({});

const usersBody = z.object({
  users: z.array(userBody),
  aud: z.string(),
  pagination: z.object({ has_more: z.boolean(), next_cursor: z.string().optional() }).optional(),
});
const auditBody = z.array(
  z
    .object({
      id: z.string(),
      payload: z.record(z.string(), z.unknown()),
      created_at: z.iso.datetime(),
      ip_address: z.string(),
    })
    .meta({ title: 'AuditEntry' }),
);

/** GET /admin/users, DELETE /admin/users/:user_id, POST /admin/users/:user_id/logout, GET /admin/audit */
export function managementRoutes(app: App, context: AuthContext, administrators: Administrators): void {
  const { onRequest } = administrators;

  app.get(
    '/admin/users',
    {
      onRequest,
      schema: {
        summary: 'Users, newest first',
        description:
          '`filter` is a part of an address, `sort` `created_at asc` or `desc`. `limit` and `cursor` in place of `page` and `per_page` read long lists without leaving anybody out.',
        tags,
        security,
        querystring: z.object({
          page: queryText,
          per_page: queryText,
          sort: queryText,
          filter: queryText,
          limit: queryText,
          cursor: queryText,
        }),
        response: { 200: usersBody, ...refusals },
      },
    },
    async (request, reply) => {
      const { page, per_page: perPage, sort, filter = '', limit, cursor } = request.query;
      const aud = originOf(request).audience ?? context.settings.JWT_AUD;
      if (limit !== undefined || cursor !== undefined) {
        const { perPage: most } = readPage('', limit);
        const { people, nextCursor } = await listUsersAfter(context, cursor ?? '', most);
        const more = nextCursor === undefined ? {} : { next_cursor: nextCursor };
        return {
          users: people.map(userJson),
          aud,
          pagination: { has_more: nextCursor !== undefined, ...more },
        };
      }
      const wanted = readPage(page, perPage);
      const search = { fragment: readPart(filter), oldestFirst: readOldestFirst(sort), ...wanted };
      const { people, total } = await listUsers(context, search);
      const link = pageLinks('/admin/users', wanted, total, { sort, filter });
      reply.headers({ 'x-total-count': String(total), link });
      return { users: people.map(userJson), aud };
    },
  );

  app.delete(
    '/admin/users/:user_id',
    {
      onRequest,
      schema: {
        summary: 'Delete a user',
        description:
          'With sessions, codes and ways to sign in. With `should_soft_delete` the row and its id stay, without anything that tells who it was.',
        tags,
        security,
        params: userIdPath,
        body: lenientBody({ should_soft_delete: z.boolean().nullish() }).nullish(),
        response: { 200: nothing, ...refusals, 404: errorBody },
      },
    },
    async (request) => {
      const soft = request.body?.should_soft_delete ?? false;
      const id = checkUserId(request.params.user_id);
      await deleteUser(context, administrators.of(request), id, originOf(request), soft);
      return {};
    },
  );

  app.post(
    '/admin/users/:user_id/logout',
    {
      onRequest,
      schema: {
        summary: 'Sign a user out everywhere',
        tags,
        security,
        params: userIdPath,
        response: { 204: z.null().meta({ description: 'Done' }), ...refusals, 404: errorBody },
      },
    },
    async (request, reply) => {
      await endSessions(context, administrators.of(request), request.params.user_id, originOf(request));
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/admin/audit',
    {
      onRequest,
      schema: {
        summary: 'The audit log, newest first',
        description: '`query` is `author:`, `action:` or `type:` with a part of it behind it.',
        tags,
        security,
        querystring: z.object({ page: queryText, per_page: queryText, query: queryText }),
        response: { 200: auditBody, ...refusals },
      },
    },
    async (request, reply) => {
      const { page, per_page: perPage, query = '' } = request.query;
      const wanted = readPage(page, perPage);
      const { entries, total } = await listAudit(context, readPart(query), wanted);
      const link = pageLinks('/admin/audit', wanted, total, { query });
      reply.headers({ 'x-total-count': String(total), link });
      return entries.map((entry) => ({ ...entry, created_at: timestamp(entry.created_at) }));
    },
  );
}
