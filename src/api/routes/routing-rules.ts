import { notFound } from '../../engine/refusal.ts';
import { addRoutingRule } from '../../engine/worker-admin.ts';
import { created, defineBodyRoute, defineRoute, noContent, okay } from '../route.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';
import { RuleBody, RuleInput, RuleList, showRule, TenantQuery } from '../schemas/worker-admin.ts';

const tag = 'routing rules';

const create = defineBodyRoute({
  method: 'POST',
  path: '/routing-rules',
  tag,
  summary: 'Send the tasks of a handler to another queue',
  params: NoParameters,
  query: NoParameters,
  body: RuleInput,
  responses: { 201: RuleBody },
  handle: async (deps, { caller, body }) => {
    const rule = await addRoutingRule(deps, caller, {
      tenantId: body.tenant_id,
      handlerName: body.handler_name,
      matchQueue: body.match_queue,
      queueOverride: body.queue_override,
      priority: body.priority,
      enabled: body.enabled,
    });
    return rule.ok ? created(showRule(rule.value)) : rule;
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/routing-rules',
  tag,
  summary: 'Routing rules in the order in which they are tried',
  params: NoParameters,
  query: TenantQuery,
  responses: { 200: RuleList },
  handle: async ({ store }, { caller, filter }) => {
    const rules = await store.listRoutingRules(caller.tenantId ?? filter.tenant_id, filter.limit);
    return okay(rules.map(showRule));
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/routing-rules/{id}',
  tag,
  summary: 'Get a routing rule',
  params: IdPath,
  query: NoParameters,
  responses: { 200: RuleBody },
  handle: async ({ store }, { caller, path }) => {
    const rule = await store.getRoutingRule(caller.tenantId, path.id);
    return rule === null ? notFound('routing rule', path.id) : okay(showRule(rule));
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/routing-rules/{id}',
  tag,
  summary: 'Remove a routing rule',
  params: IdPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async ({ store }, { caller, path }) => {
    const removed = await store.deleteRoutingRule(caller.tenantId, path.id);
    return removed ? noContent : notFound('routing rule', path.id);
  },
});

export const routingRuleRoutes = [create, list, get, remove];
