import type { App } from '@croft/http';
import { z } from 'zod';
import type { AuthContext } from '../context.ts';
import { errorBody } from '../responses.ts';
import { checkReadiness } from './check-readiness.ts';

/** GET /health and GET /ready */
export function healthRoutes(app: App, context: AuthContext): void {
  app.get(
    '/health',
    {
      schema: {
        summary: 'Whether the process answers',
        tags: ['health'],
        response: { 200: z.object({ version: z.string(), name: z.string(), description: z.string() }) },
      },
    },
    () => ({
      version: context.version,
      name: 'Croft auth',
      description: 'Croft auth is a user registration and authentication API',
    }),
  );

  app.get(
    '/ready',
    {
      schema: {
        summary: 'Whether the database can be reached',
        tags: ['health'],
        response: { 200: z.object({ ready: z.literal(true) }), 503: errorBody },
      },
    },
    async () => {
      await checkReadiness(context);
      return { ready: true as const };
    },
  );
}
