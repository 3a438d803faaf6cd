import { TENANT } from './api-fixture.ts';
import {
  NAMED,
  completed,
  failed,
  ofOneSequence,
  publish,
  run,
  sequenceBody,
  startOf,
  step,
  twoVersions,
  waiting,
  type Make,
} from './write-world.ts';

/** For sequences and their instances. */
export const REQUESTS_OF_RUNS: Readonly<Record<string, Make>> = {
  'POST /sequences': (world) => ({
    path: '/sequences',
    body: sequenceBody(world, [step('a', { params: { x: 'y' } })], { input_schema: { type: 'object' } }),
  }),
  'POST /sequences/preflight': (world) => ({
    path: '/sequences/preflight',
    body: sequenceBody(world, [step('a')]),
  }),
  'POST /sequences/dataflow': (world) => ({
    path: '/sequences/dataflow',
    body: sequenceBody(world, [step('a')]),
  }),
  'POST /sequences/inspect-template': (world) => ({
    path: '/sequences/inspect-template',
    body: {
      sequence: sequenceBody(world, [step('a', { params: { x: '{{ context.data.d }}' } })]),
      block_id: 'a',
      context_data: { d: 'x' },
      outputs: { o: 'x' },
    },
  }),
  'POST /debug/template': () => ({
    path: '/debug/template',
    body: {
      template: 'a {{ context.data.d }}',
      context_data: { d: 'x' },
      context_config: { c: 'x' },
      outputs: { o: 'x' },
    },
  }),
  'POST /sequences/{id}/deprecate': async (world) => ({
    path: `/sequences/${await publish(world)}/deprecate`,
  }),
  'POST /sequences/{id}/status': async (world) => ({
    path: `/sequences/${await publish(world)}/status`,
    body: { status: 'unpublished' },
  }),
  'POST /sequences/{name}/promote': async (world) => {
    const name = `s-${world.unique()}`;
    await publish(world, [step('a')], { name, namespace: 'default', status: 'staging' });
    return { path: `/sequences/${name}/promote` };
  },
  'POST /sequences/{name}/unpublish': async (world) => {
    const name = `s-${world.unique()}`;
    await publish(world, [step('a')], { name, namespace: 'default' });
    return { path: `/sequences/${name}/unpublish`, body: { delete: false } };
  },
  'POST /instances': async (world) => ({ path: '/instances', body: await startOf(world) }),
  'POST /instances/batch': async (world) => ({
    path: '/instances/batch',
    body: { instances: [await startOf(world), await startOf(world)] },
  }),
  'PATCH /instances/{id}/state': async (world) => ({
    path: `/instances/${await waiting(world)}/state`,
    body: { state: 'cancelled', next_fire_at: null },
  }),
  'PATCH /instances/{id}/context': async (world) => ({
    path: `/instances/${await waiting(world)}/context?mode=merge`,
    body: { context: { data: { d: 'x' }, config: { c: 'x' }, audit: ['x'] } },
  }),
  'POST /instances/{id}/signals': async (world) => ({
    path: `/instances/${await waiting(world)}/signals`,
    body: { signal_type: { custom: 'note' }, payload: { p: 'x' }, delivery_id: 'd-1' },
  }),
  'POST /instances/{id}/retry': async (world) => ({ path: `/instances/${await failed(world)}/retry` }),
  'POST /instances/{id}/wake': async (world) => ({
    path: `/instances/${await run(world, [step('a', { delay: { duration: 86_400_000 } })], 'scheduled')}/wake`,
    body: {},
  }),
  'POST /instances/{id}/remediations/apply': async (world) => {
    const id = await failed(world);
    const [preview] = await world.call('GET', `/instances/${id}/remediations`);
    const body = { preview_id: preview?.preview_id ?? '', acknowledge_side_effect_risk: true };
    return { path: `/instances/${id}/remediations/apply`, body };
  },
  'POST /instances/{id}/inject-blocks': async (world) => ({
    path: `/instances/${await waiting(world)}/inject-blocks`,
    body: { blocks: [step('injected')], position: 2 },
  }),
  'POST /sequences/migrate-instance': async (world) => ({
    path: '/sequences/migrate-instance',
    body: await twoVersions(world),
  }),
  'POST /sequences/migrate-instance/preview': async (world) => ({
    path: '/sequences/migrate-instance/preview',
    body: await twoVersions(world),
  }),
  'POST /instances/{id}/checkpoints': async (world) => ({
    path: `/instances/${await waiting(world)}/checkpoints`,
    body: { checkpoint_data: { d: 'x' } },
  }),
  'POST /instances/{id}/checkpoints/prune': async (world) => {
    const id = await waiting(world);
    for (const n of [1, 2]) await world.call('POST', `/instances/${id}/checkpoints`, { checkpoint_data: n });
    return { path: `/instances/${id}/checkpoints/prune`, body: { keep: 1 } };
  },
  'POST /instances/dlq/groups/{fingerprint}/retry': async (world) => {
    const sequence_id = await publish(world, [
      step('a', { handler: 'fail', params: { message: `m ${world.unique()}` } }),
    ]);
    const { id } = await world.call('POST', '/instances', { ...NAMED, sequence_id });
    await world.until(id, 'failed');
    const groups: readonly { fingerprint: string }[] = await world.call(
      'GET',
      `/instances/dlq/groups?tenant_id=${TENANT}&sequence_id=${sequence_id}`,
    );
    return {
      path: `/instances/dlq/groups/${groups[0]?.fingerprint ?? ''}/retry`,
      body: { mode: 'sample', force: false, limit: 5 },
    };
  },
  'POST /instances/{id}/resume-from/{block_id}': async (world) => ({
    path: `/instances/${await failed(world)}/resume-from/b`,
    body: { context: { d: 'x' }, signals: [{ signal_type: { custom: 'note' }, payload: 'x' }] },
  }),
  'POST /instances/{id}/fork': async (world) => ({
    path: `/instances/${await completed(world)}/fork`,
    body: { from_block_id: 'a', context: { d: 'x' }, dry_run: true },
  }),
  'PATCH /instances/bulk/state': async (world) => ({
    path: '/instances/bulk/state',
    body: { filter: await ofOneSequence(world, await waiting(world)), state: 'cancelled' },
  }),
  'PATCH /instances/bulk/reschedule': async (world) => {
    const sequence_id = await publish(world);
    const next_fire_at = '2098-01-01T00:00:00Z';
    await world.call('POST', '/instances', { ...NAMED, sequence_id, next_fire_at });
    const filter = { tenant_id: TENANT, sequence_id, states: ['scheduled'] };
    return { path: '/instances/bulk/reschedule', body: { filter, offset_secs: 60 } };
  },
  'POST /instances/batch-action': async (world) => ({
    path: '/instances/batch-action',
    body: {
      filter: { ...(await ofOneSequence(world, await waiting(world))), states: ['waiting'] },
      action: 'signal',
      signal_type: 'note',
      payload: { p: 'x' },
      limit: 5,
    },
  }),
  'PATCH /instances/{id}/budget': async (world) => ({
    path: `/instances/${await waiting(world)}/budget`,
    body: { max_steps: 7 },
  }),
};
