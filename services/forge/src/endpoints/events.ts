import * as hooks from '../hooks/routes.ts';
import * as notifications from '../notifications/routes.ts';
import type { Line } from './index.ts';

/** Webhooks and notifications. */
export const EVENTS: readonly Line[] = [
  ...hooksAt('/repos/:owner/:repo/hooks', hooks.repository),
  ['POST', '/repos/:owner/:repo/hooks/:id/tests', hooks.test],
  ...hooksAt('/orgs/:org/hooks', hooks.organization),
  ...hooksAt('/user/hooks', hooks.caller),
  ...hooksAt('/admin/hooks', hooks.system),

  ['GET', '/notifications', notifications.list],
  ['PUT', '/notifications', notifications.mark],
  ['GET', '/notifications/new', notifications.countNew],
  ['GET', '/notifications/threads/:id', notifications.show],
  ['PATCH', '/notifications/threads/:id', notifications.markOne],
  ['GET', '/repos/:owner/:repo/notifications', notifications.listOfRepository],
  ['PUT', '/repos/:owner/:repo/notifications', notifications.markOfRepository],
];

function hooksAt(path: string, of: Omit<typeof hooks.repository, 'findHook'>): readonly Line[] {
  return [
    ['GET', path, of.list],
    ['POST', path, of.create],
    ['GET', `${path}/:id`, of.show],
    ['PATCH', `${path}/:id`, of.edit],
    ['DELETE', `${path}/:id`, of.remove],
    ['GET', `${path}/:id/deliveries`, of.listDeliveries],
    ['POST', `${path}/:id/deliveries/:delivery/redeliver`, of.redeliver],
  ];
}
