import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../failures.ts';
import { listAnswer, pageOf } from '../list-answer.ts';
import type { ScopeArea } from '../rules/access/token-scope.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as deliveries from '../store/events/hook-deliveries.ts';
import * as hooks from '../store/events/hooks.ts';
import { emptySchema, errorSchema, optional, pageParameters, requiredText } from '../wire-schemas.ts';
import { createHook } from './create-hook.ts';
import { deliveryJson, deliverySchema } from './delivery-json.ts';
import { editHook } from './edit-hook.ts';
import { hookJson, hookSchema } from './hook-json.ts';
import type { FindPlace } from './hook-place.ts';
import { redeliver } from './redeliver.ts';

const settings = {
  events: optional.texts,
  branch_filter: optional.text,
  authorization_header: optional.text,
  active: optional.boolean,
  name: optional.text,
};
const config = z.record(z.string(), optional.text);

/**
 * The endpoints for the hooks of one kind of place: there are four kinds, and nothing but who may do it and the path
 * makes a difference.
 */
export function hookEndpoints<Shape extends z.ZodRawShape>(
  of: string,
  area: ScopeArea,
  path: z.ZodObject<Shape>,
  findPlace: FindPlace<z.output<z.ZodObject<Shape>>>,
) {
  const one = path.extend({ id: z.string() });
  const delivery = one.extend({ delivery: z.string() });
  const about = { access: 'caller', area } as const;
  const refusals = { 403: errorSchema, 404: errorSchema } as const;
  type Path = z.output<z.ZodObject<Shape>>;

  async function findHook(context: Context, caller: Caller, params: { id: string }): Promise<hooks.HookRow> {
    const scope = await findPlace(context, caller, params as unknown as Path);
    const hook = await hooks.find(context.database.autocommit(), scope, readId(params.id));
    if (hook === undefined) throw notFound();
    return hook;
  }

  return {
    findHook,
    list: endpoint({
      ...about,
      summary: `Webhooks of ${of}, oldest first`,
      params: path,
      query: z.object(pageParameters),
      answers: { 200: z.array(hookSchema), ...refusals },
      async handle({ params, query, caller, url }, context) {
        const scope = await findPlace(context, caller, params);
        const page = pageOf(context, query);
        const tx = context.database.autocommit();
        const [rows, total] = await Promise.all([hooks.list(tx, scope, page), hooks.count(tx, scope)]);
        return listAnswer(context, url, { page, total, items: rows.map(hookJson) });
      },
    }),
    create: endpoint({
      ...about,
      summary: `Add a webhook to ${of}`,
      params: path,
      body: z.object({ type: requiredText, config: config.nullish(), ...settings }),
      answers: { 201: hookSchema, ...refusals, 422: errorSchema },
      async handle({ params, body, caller }, context) {
        const hook = await createHook(context, await findPlace(context, caller, params), {
          type: body.type,
          config: body.config ?? {},
          events: body.events ?? [],
          branchFilter: body.branch_filter ?? '',
          authorization: body.authorization_header ?? '',
          active: body.active ?? false,
          name: body.name ?? '',
        });
        return { status: 201, body: hookJson(hook) };
      },
    }),
    show: endpoint({
      ...about,
      summary: `A webhook of ${of}`,
      params: one,
      answers: { 200: hookSchema, ...refusals },
      async handle({ params, caller }, context) {
        return { status: 200, body: hookJson(await findHook(context, caller, hookPath(params))) };
      },
    }),
    edit: endpoint({
      ...about,
      summary: `Edit a webhook of ${of}`,
      params: one,
      body: z.object({ config: config.nullish(), ...settings }),
      answers: { 200: hookSchema, ...refusals, 422: errorSchema },
      async handle({ params, body, caller }, context) {
        const { id } = await findHook(context, caller, hookPath(params));
        const changed = await editHook(context, id, {
          config: body.config,
          events: body.events,
          active: body.active,
          name: body.name,
          branchFilter: body.branch_filter,
          authorization: body.authorization_header,
        });
        return { status: 200, body: hookJson(changed) };
      },
    }),
    remove: endpoint({
      ...about,
      summary: `Delete a webhook of ${of} with its deliveries`,
      params: one,
      answers: { 204: emptySchema, ...refusals },
      async handle({ params, caller }, context) {
        const hook = await findHook(context, caller, hookPath(params));
        await hooks.deleteById(context.database.autocommit(), hook.id);
        return { status: 204 };
      },
    }),
    listDeliveries: endpoint({
      ...about,
      summary: `What was sent to a webhook of ${of}, newest first`,
      params: one,
      query: z.object(pageParameters),
      answers: { 200: z.array(deliverySchema), ...refusals },
      async handle({ params, query, caller, url }, context) {
        const { id } = await findHook(context, caller, hookPath(params));
        const page = pageOf(context, query);
        const tx = context.database.autocommit();
        const [rows, total] = await Promise.all([deliveries.list(tx, id, page), deliveries.count(tx, id)]);
        return listAnswer(context, url, { page, total, items: rows.map(deliveryJson) });
      },
    }),
    redeliver: endpoint({
      ...about,
      summary: `Send something to a webhook of ${of} once more`,
      params: delivery,
      answers: { 202: deliverySchema, ...refusals },
      async handle({ params, caller }, context) {
        const path = deliveryPath(params);
        const hook = await findHook(context, caller, path);
        return { status: 202, body: await redeliver(context, hook, readId(path.delivery)) };
      },
    }),
  };
}

/** The members that every path here has; what else it has is for the place it names. */
const hookPath = (params: object) => params as { id: string };
const deliveryPath = (params: object) => params as { id: string; delivery: string };
