import type { App } from '@croft/http';
import { z } from 'zod';
import { factorJson } from '../account/user-json.ts';
import { recogniseAdministrators } from '../admin/administrators.ts';
import { originOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { lenientBody, textField } from '../requests.ts';
import { errorBody, factorBody } from '../responses.ts';
import { deleteFactor, listFactors, updateFactor } from './administrate-factors.ts';

const userPath = z.object({ user_id: z.string() });
const factorPath = userPath.extend({ factor_id: z.string() });
const refusals = { 400: errorBody, 401: errorBody, 403: errorBody, 404: errorBody };
const security = [{ bearer: [] }];
const tags = ['administration'];

/** GET /admin/users/:user_id/factors, PUT and DELETE /admin/users/:user_id/factors/:factor_id */
export function adminFactorRoutes(app: App, context: AuthContext): void {
  const { onRequest, of: adminOf } = recogniseAdministrators(context);

  app.get(
    '/admin/users/:user_id/factors',
    {
      onRequest,
      schema: {
        summary: 'The second factors of a user',
        tags,
        security,
        params: userPath,
        response: { 200: z.array(factorBody), ...refusals },
      },
    },
    async (request) => (await listFactors(context, request.params.user_id)).map(factorJson),
  );

  app.put(
    '/admin/users/:user_id/factors/:factor_id',
    {
      onRequest,
      schema: {
        summary: 'Rename a second factor, or give a phone another number',
        tags,
        security,
        params: factorPath,
        body: lenientBody({ friendly_name: textField, phone: textField }),
        response: { 200: factorBody, ...refusals, 422: errorBody },
      },
    },
    async (request) => {
      const { user_id: userId, factor_id: factorId } = request.params;
      const named = { userId, factorId, origin: originOf(request) };
      const wanted = { name: request.body.friendly_name, phone: request.body.phone };
      return factorJson(await updateFactor(context, adminOf(request), named, wanted));
    },
  );

  app.delete(
    '/admin/users/:user_id/factors/:factor_id',
    {
      onRequest,
      schema: {
        summary: 'Take a second factor away from a user',
        tags,
        security,
        params: factorPath,
        response: { 200: factorBody, ...refusals },
      },
    },
    async (request) => {
      const { user_id: userId, factor_id: factorId } = request.params;
      const named = { userId, factorId, origin: originOf(request) };
      return factorJson(await deleteFactor(context, adminOf(request), named));
    },
  );
}
