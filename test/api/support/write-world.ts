import type { JsonObject } from '../../../src/core/json.ts';
import { nextId } from '../../support/turn-builder.ts';
import { TENANT } from './api-fixture.ts';

/** A server on which requests are made, whether in this process or in another one. */
export interface WriteWorld {
  /** Answers the body of a call that must succeed. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<ReturnType<typeof JSON.parse>>;
  /** Waits until an instance has this state. */
  readonly until: (id: string, state: string) => Promise<unknown>;
  /** Numbers that no other test of the server has used. */
  readonly unique: () => string;
  /** An outgoing webhook that could not be delivered; null where nothing is sent. */
  readonly parkedWebhook: (() => Promise<string>) | null;
}

export interface WriteRequest {
  readonly path: string;
  readonly body?: JsonObject;
}

export type Make = (world: WriteWorld) => Promise<WriteRequest> | WriteRequest;

export const NAMED = { tenant_id: TENANT, namespace: 'fulfilment' };
export const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});
const GATE = step('b', { wait_for_input: { prompt: 'Go on?' } });

export function sequenceBody(
  world: WriteWorld,
  blocks: readonly JsonObject[],
  more: JsonObject = {},
): JsonObject {
  const created_at = '2027-02-11T07:45:00.000Z';
  return { id: nextId(), ...NAMED, name: `s-${world.unique()}`, version: 1, blocks, created_at, ...more };
}

export async function publish(
  world: WriteWorld,
  blocks = [step('a')],
  more: JsonObject = {},
): Promise<string> {
  return (await world.call('POST', '/sequences', sequenceBody(world, blocks, more))).id;
}

export async function run(world: WriteWorld, blocks: readonly JsonObject[], state: string): Promise<string> {
  const sequence_id = await publish(world, [...blocks]);
  const { id } = await world.call('POST', '/instances', { ...NAMED, sequence_id });
  await world.until(id, state);
  return id;
}

export const waiting = (world: WriteWorld): Promise<string> => run(world, [step('a'), GATE], 'waiting');
export const completed = (world: WriteWorld): Promise<string> => run(world, [step('a')], 'completed');
export const failed = (world: WriteWorld): Promise<string> =>
  run(world, [step('a'), step('b', { handler: 'assert', params: { condition: 'data.healed' } })], 'failed');

/** The task of a worker, claimed by `w-1`. */
export async function claimedTask(world: WriteWorld): Promise<string> {
  const handler = `worker-${world.unique()}`;
  await run(world, [step('a', { handler })], 'waiting');
  const poll = { handler_name: handler, worker_id: 'w-1' };
  return (await world.call('POST', '/workers/tasks/poll', poll))[0].id;
}

/** An open task, and the body of a poll for it. */
export async function openTask(world: WriteWorld, more: JsonObject = {}): Promise<JsonObject> {
  const handler = `worker-${world.unique()}`;
  await run(world, [step('a', { handler, ...more })], 'waiting');
  return { handler_name: handler, worker_id: 'w-1', limit: 5, version: '1.0.0' };
}

export async function twoVersions(world: WriteWorld): Promise<JsonObject> {
  const blocks = [step('a'), GATE];
  const name = `s-${world.unique()}`;
  const sequence_id = await publish(world, blocks, { name });
  const target = await publish(world, [...blocks, step('c')], { name, version: 2 });
  const { id } = await world.call('POST', '/instances', { ...NAMED, sequence_id });
  await world.until(id, 'waiting');
  return { instance_id: id, target_sequence_id: target };
}

export async function made(world: WriteWorld, path: string, body: JsonObject): Promise<string> {
  return (await world.call('POST', path, body)).id;
}

export const session = (world: WriteWorld): JsonObject => ({
  ...{ tenant_id: TENANT, session_key: `k-${world.unique()}`, data: { lang: 'pt' } },
  expires_at: '2099-01-01T00:00:00Z',
});
export const credential = (world: WriteWorld): JsonObject => ({
  ...{
    id: `c-${world.unique()}`,
    tenant_id: TENANT,
    name: 'n',
    kind: 'api_key',
    value: 'v',
    description: 'd',
  },
  expires_at: '2099-01-01T00:00:00Z',
});
export const pool = (world: WriteWorld): JsonObject => ({
  ...{ tenant_id: TENANT, name: `p-${world.unique()}`, strategy: 'round_robin' },
});
export const resource = (world: WriteWorld): JsonObject => ({
  ...{
    resource_key: `r-${world.unique()}`,
    name: 'n',
    weight: 2,
    daily_cap: 5,
    warmup_days: 1,
    warmup_start_cap: 1,
  },
  warmup_start: '2027-01-01',
});
export const event = (world: WriteWorld): JsonObject => ({
  ...{ tenant_id: TENANT, event_name: 'e', producer_event_id: `p-${world.unique()}`, correlation_key: 'c' },
  payload: { paid: true },
});
export const plugin = (world: WriteWorld): JsonObject => ({
  ...{ tenant_id: TENANT, name: `p-${world.unique()}`, plugin_type: 'wasm', source: 'x', description: 'd' },
  config: { c: 'x' },
});
export async function schedule(world: WriteWorld): Promise<JsonObject> {
  const cron = {
    cron_expr: '0 9 1 1 *',
    timezone: 'UTC',
    metadata: { m: 1 },
    enabled: true,
    overlap_policy: 'skip',
  };
  return { ...NAMED, sequence_id: await publish(world), ...cron };
}
export async function trigger(world: WriteWorld): Promise<JsonObject> {
  const sequence_name = `s-${world.unique()}`;
  await publish(world, [step('a')], { name: sequence_name });
  return {
    ...NAMED,
    slug: `t-${world.unique()}`,
    sequence_name,
    version: 1,
    enabled: true,
    config: { a: 1 },
  };
}
/** A filter that fits what one sequence has started. */
export async function ofOneSequence(world: WriteWorld, id: string): Promise<JsonObject> {
  const { sequence_id } = await world.call('GET', `/instances/${id}`);
  return { tenant_id: TENANT, namespace: 'fulfilment', sequence_id };
}
export async function startOf(world: WriteWorld): Promise<JsonObject> {
  return {
    ...NAMED,
    sequence_id: await publish(world),
    priority: 'High',
    timezone: 'Europe/Lisbon',
    metadata: { m: 'x' },
    context: { data: { d: 'x' }, config: { c: 'x' }, audit: [{ a: 'x' }] },
    concurrency_key: `key-${world.unique()}`,
    max_concurrency: 3,
    budget: { max_steps: 100 },
  };
}
