import type { Request } from '@croft/http';
import { type Administrator, authenticateAdmin } from '../caller/authenticate-admin.ts';
import type { AuthContext } from '../context.ts';

/** Who administrates, for the routes of administrators. */
export interface Administrators {
  /** Before the body is read: who may not, learns nothing of what a body must look like, and costs no memory. */
  onRequest: (request: Request) => Promise<void>;
  of: (request: object) => Administrator;
}

/** Recognises administrators. */
export function recogniseAdministrators(context: AuthContext): Administrators {
  const known = new WeakMap<Request, Administrator>();
  return {
    onRequest: async (request) => {
      known.set(request, await authenticateAdmin(context, request.headers.authorization));
    },
    of: (request) => {
      const administrator = known.get(request as Request);
      if (administrator === undefined) throw new Error('a route of administrators without its hook');
      return administrator;
    },
  };
}
