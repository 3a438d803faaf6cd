import { nextId } from '../../support/turn-builder.ts';
import { OTHER_TENANT, TENANT } from '../../api/support/api-fixture.ts';
import { document } from '../../api/support/documents.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { ContractWorld } from './contract-world.ts';
import { type RichRuns, richRuns } from './rich-runs.ts';

/** What requests that must be refused can name. Nothing of it is changed by them. */
export interface Scene extends RichRuns {
  /** An id that nobody has. */
  readonly nowhere: string;
  /** Publishable in this form; the tests spoil one thing each. */
  readonly draft: (overrides?: JsonObject) => JsonObject;
  /** A sequence of another tenant. */
  readonly foreignSequence: string;
  /** A gate `ask` behind the block `a`, and `deep` inside of a parallel. */
  readonly gated: string;
  readonly gatedSequence: string;
  readonly scheduled: string;
  readonly paused: string;
  readonly session: JsonObject & { readonly session_key: string; readonly id: string };
  readonly event: JsonObject;
  readonly pool: string;
  readonly otherPool: string;
  readonly resource: string;
  readonly credential: string;
  readonly trigger: string;
  readonly disabledTrigger: string;
  readonly secretTrigger: string;
  readonly cron: string;
  readonly rule: string;
  /** Claimed by `w-1` with epoch 1. */
  readonly claimed: string;
  readonly parked: string;
  readonly fingerprint: string;
  /** Remediations of the failed run and of the open gate. */
  readonly retryPreview: string;
  readonly gatePreview: string;
  readonly start: (overrides?: JsonObject) => JsonObject;
}

const NAMED = { tenant_id: TENANT, namespace: 'fulfilment' };
const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});

export async function createScene(world: ContractWorld): Promise<Scene> {
  const rich = await richRuns(world);
  const gates = [
    step('a'),
    { type: 'parallel', id: 'both', branches: [[step('deep')], [step('deeper')]] },
    step('ask', { wait_for_input: { prompt: 'Go on?' } }),
  ];
  const gatedSequence = await publish(world, gates);
  const gated = await start(world, gatedSequence, 'waiting');
  const later = await publish(world, [step('a', { delay: { duration: 86_400_000 } })]);
  const scheduled = await start(world, later, 'scheduled');
  const paused = await start(world, later, 'scheduled');
  await world.call('PATCH', `/instances/${paused}/state`, { state: 'paused' });
  const [group] = await world.call('GET', '/instances/dlq/groups');
  return {
    ...rich,
    ...(await others(world)),
    nowhere: '01900000-0000-7000-8000-00000000dead',
    draft: (overrides = {}) => document({ name: `s-${nextId()}`, ...overrides }),
    start: (overrides = {}) => ({ ...NAMED, sequence_id: gatedSequence, ...overrides }),
    gated,
    gatedSequence,
    scheduled,
    paused,
    claimed: await claimedTask(world),
    parked: (await world.parkedWebhook?.()) ?? '',
    fingerprint: group.fingerprint,
    retryPreview: (await world.call('GET', `/instances/${rich.failed}/remediations`))[0].preview_id,
    gatePreview: (await world.call('GET', `/instances/${gated}/remediations`))[0].preview_id,
  };
}

async function others(world: ContractWorld) {
  const foreign = document({ tenant_id: OTHER_TENANT, name: 'theirs' });
  await world.send('POST', '/api/v1/sequences', { body: foreign, tenant: OTHER_TENANT });
  const pool = await world.write('POST /pools');
  const trigger = await world.write('POST /triggers');
  const more = (name: string, extra: object) => ({ ...trigger, slug: name, ...extra });
  await world.call('POST', '/triggers', more('disabled', { enabled: false }));
  await world.call('POST', '/triggers', more('secretive', { secret: 'it is a secret' }));
  const resource = { resource_key: 'r', name: 'r' };
  return {
    foreignSequence: foreign.id,
    session: await world.write('POST /sessions'),
    event: { tenant_id: TENANT, event_name: 'e', producer_event_id: 'p-scene', correlation_key: 'c' },
    pool: pool.id,
    otherPool: (await world.write('POST /pools')).id,
    resource: (await world.call('POST', `/pools/${pool.id}/resources`, resource)).id,
    credential: (await world.write('POST /credentials')).id,
    trigger: trigger.slug,
    disabledTrigger: 'disabled',
    secretTrigger: 'secretive',
    cron: (await world.write('POST /cron')).id,
    rule: (await world.write('POST /routing-rules')).id,
  };
}

async function publish(world: ContractWorld, blocks: readonly JsonObject[]): Promise<string> {
  return (await world.call('POST', '/sequences', document({ name: `scene-${nextId()}`, blocks }))).id;
}

async function start(world: ContractWorld, sequence_id: string, state: string): Promise<string> {
  const { id } = await world.call('POST', '/instances', { ...NAMED, sequence_id });
  await world.until(id, state);
  return id;
}

async function claimedTask(world: ContractWorld): Promise<string> {
  await start(world, await publish(world, [step('a', { handler: 'scene_worker' })]), 'waiting');
  const poll = { handler_name: 'scene_worker', worker_id: 'w-1' };
  return (await world.call('POST', '/workers/tasks/poll', poll))[0].id;
}
