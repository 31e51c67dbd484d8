import type { App } from '@croft/http';
import { drawAvatar } from '../rules/people/avatar.ts';

/** Where `avatar_url` leads: the same for every number, whether there is such an account or not. */
export function avatarRoutes(app: App): void {
  app.get('/avatars/:id(^-?\\d{1,15}$)', { schema: { hide: true } }, async (request, reply) => {
    const { id } = request.params as { id: string };
    return await reply
      .type('image/svg+xml')
      .header('x-content-type-options', 'nosniff')
      .header('content-security-policy', "default-src 'none'")
      .header('cache-control', 'public, max-age=86400')
      .send(drawAvatar(Number(id)));
  });
}
