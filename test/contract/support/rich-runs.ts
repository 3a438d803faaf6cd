import type { JsonObject } from '../../../src/core/json.ts';
import { nextId } from '../../support/turn-builder.ts';
import { TENANT } from '../../api/support/api-fixture.ts';
import type { ContractWorld } from './contract-world.ts';

/** Runs with something of everything, so that each member of an answer is seen at least once. Nobody changes them. */
export interface RichRuns {
  readonly sequenceId: string;
  readonly sessionId: string;
  readonly completed: string;
  readonly failed: string;
  /** Waits for a person, an event and a worker at once. */
  readonly waiting: string;
  readonly outputId: string;
  readonly taskId: string;
}

const NAMED = { tenant_id: TENANT, namespace: 'fulfilment' };
const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});
const says = (id: string, value: string): JsonObject => step(id, { handler: 'transform', params: { value } });

const RETRY = { max_attempts: 3, initial_backoff: 100, max_backoff: 1000, backoff_multiplier: 2 };

const BLOCKS: readonly JsonObject[] = [
  step('say', {
    handler: 'transform',
    params: { no: '{{ data.parcel }}' },
    rate_limit_key: 'rich',
    when: 'data.parcel != null',
    context_access: { data: { fields: ['parcel'] }, config: true },
    output_schema: { type: 'object' },
    timeout: 20_000,
  }),
  { type: 'loop', id: 'twice', condition: 'true', body: [says('pass', 'x')], max_iterations: 2 },
  { type: 'parallel', id: 'both', branches: [[says('left', 'l')], [says('right', 'r')]] },
  {
    type: 'router',
    id: 'way',
    routes: [{ condition: 'false', blocks: [step('no')] }],
    default: [step('yes')],
  },
  {
    type: 'a_b_split',
    id: 'split',
    variants: [
      { name: 'a', weight: 1, blocks: [step('va')] },
      { name: 'b', weight: 1, blocks: [step('vb')] },
    ],
  },
  {
    type: 'try_catch',
    id: 'try',
    try_block: [step('breaks', { handler: 'fail', params: { message: 'no' } })],
    catch_block: [step('caught')],
  },
  { type: 'sub_sequence', id: 'child', sequence_name: 'rich-child', input: { of: 'rich' } },
  step('work', { handler: 'rich_worker', params: { no: 1 }, retry: RETRY, queue_name: 'eu' }),
];

export function richRuns(world: ContractWorld): Promise<RichRuns> {
  return world.once('rich runs', () => makeRuns(world));
}

async function makeRuns(world: ContractWorld): Promise<RichRuns> {
  await world.call('PUT', `/tenants/${TENANT}/rate-limits/rich`, { max_count: 50, window_seconds: 60 });
  await publish(world, 'rich-child', [says('inner', 'x')]);
  const sequenceId = await publish(world, 'rich', BLOCKS, {
    input_schema: { type: 'object', required: ['parcel'], properties: { parcel: { type: 'string' } } },
    sla: { max_runtime: 86_400_000 },
    on_failure: [step('cleanup')],
    interceptors: { on_complete: { handler: 'noop', params: {} } },
  });
  const session = await world.call('POST', '/sessions', { tenant_id: TENANT, session_key: 'rich' });
  const completed = await startOf(world, sequenceId, session.id);
  const taskId = await workOff(world, completed);
  await world.until(completed, 'completed');
  for (const n of [1, 2]) {
    await world.call('POST', `/instances/${completed}/checkpoints`, { checkpoint_data: { n } });
  }
  await keepArtifact(world, completed);
  const [output] = await world.call('GET', `/instances/${completed}/outputs`);
  const runs = { sequenceId, sessionId: session.id, completed, outputId: output.id, taskId };
  return { ...runs, failed: await failedRun(world), waiting: await waitingRun(world) };
}

async function startOf(world: ContractWorld, sequenceId: string, sessionId: string): Promise<string> {
  const { id } = await world.call('POST', '/instances', {
    ...NAMED,
    sequence_id: sequenceId,
    priority: 'High',
    timezone: 'Europe/Lisbon',
    metadata: { depot: 'north-2' },
    context: { data: { parcel: 'PX-9004' }, config: { holidays: [] }, audit: [{ a: 'x' }] },
    concurrency_key: 'rich',
    max_concurrency: 2,
    idempotency_key: 'rich-1',
    session_id: sessionId,
    budget: { max_steps: 1000 },
  });
  return id;
}

/** Plays the worker of `rich_worker`: one attempt fails, the other one tells where it is and completes. */
async function workOff(world: ContractWorld, id: string): Promise<string> {
  const poll = { handler_name: 'rich_worker', worker_id: 'w-rich', version: '1.0.0' };
  await world.until(id, 'waiting');
  const [first] = await world.call('POST', '/workers/tasks/poll', poll);
  const failure = { worker_id: 'w-rich', claim_epoch: 1, message: 'upstream answered 503', retryable: true };
  await world.call('POST', `/workers/tasks/${first.id}/fail`, {
    ...failure,
    code: 'HTTP_STATUS',
    details: {},
  });
  await world.until(id, 'waiting');
  const [second] = await world.call('POST', '/workers/tasks/poll', poll);
  const claim = { worker_id: 'w-rich', claim_epoch: second.claim_epoch };
  await world.call('POST', `/workers/tasks/${second.id}/heartbeat`, {
    ...claim,
    checkpoint: { row: 12 },
    checkpoint_seq: 0,
  });
  await world.call('POST', `/instances/${id}/signals`, {
    signal_type: { custom: 'note' },
    payload: { p: 1 },
  });
  const logs = [{ ts: '2027-01-01T00:00:00Z', level: 'info', message: 'x' }];
  await world.call('POST', `/workers/tasks/${second.id}/complete`, { ...claim, output: { done: 1 }, logs });
  return second.id;
}

async function failedRun(world: ContractWorld): Promise<string> {
  const blocks = [
    step('say'),
    step('breaks', { handler: 'fail', params: { message: 'upstream answered 503' } }),
  ];
  const sequenceId = await publish(world, `rich-failing-${world.unique()}`, blocks);
  const { id } = await world.call('POST', '/instances', { ...NAMED, sequence_id: sequenceId });
  await world.until(id, 'failed');
  return id;
}

async function waitingRun(world: ContractWorld): Promise<string> {
  const choices = [
    { label: 'Refund', value: 'yes' },
    { label: 'Keep', value: 'no' },
  ];
  const gate = {
    prompt: 'Refund?',
    timeout: 3_600_000,
    escalation_handler: 'noop',
    choices,
    store_as: 'answer',
  };
  const event = { events: 'paid', correlation_key: 'rich' };
  const sequenceId = await publish(world, `rich-waiting-${world.unique()}`, [
    {
      type: 'parallel',
      id: 'all',
      branches: [
        [step('ask', { wait_for_input: { ...gate, allow_comment: true } })],
        [step('hear', { handler: 'wait_for_event', params: event, wait_for_input: {} })],
        [step('work', { handler: 'nobody_does_this' })],
      ],
    },
  ]);
  const { id } = await world.call('POST', '/instances', { ...NAMED, sequence_id: sequenceId });
  await world.until(id, 'waiting');
  return id;
}

async function keepArtifact(world: ContractWorld, instanceId: string): Promise<void> {
  const blob = { artifactId: 'report', contentType: 'text/plain', size: 6, sha256: '0'.repeat(64) };
  const bytes = new TextEncoder().encode('report');
  await world.api.store.putBlob({ tenantId: TENANT, instanceId }, { ...blob, bytes });
}

async function publish(
  world: ContractWorld,
  name: string,
  blocks: readonly JsonObject[],
  more: JsonObject = {},
): Promise<string> {
  const created_at = '2027-02-11T07:45:00.000Z';
  const body = { id: nextId(), ...NAMED, name, version: 1, blocks, created_at, ...more };
  return (await world.call('POST', '/sequences', body)).id;
}
