import { OTHER_TENANT, TENANT } from '../../api/support/api-fixture.ts';
import type { Scene } from '../support/scene.ts';
import type { Refusal, Request } from './refusal.ts';

const signal =
  (body: object, whom: (scene: Scene) => string = ({ gated }) => gated): Request =>
  (scene) => ['POST', `/instances/${whom(scene)}/signals`, body];
const patch =
  (state: object, whom: (scene: Scene) => string): Request =>
  (scene) => ['PATCH', `/instances/${whom(scene)}/state`, state];
const on =
  (
    method: string,
    part: string,
    body?: object,
    whom: (scene: Scene) => string = ({ gated }) => gated,
  ): Request =>
  (scene) => [method, `/instances/${whom(scene)}${part}`, body];
const nowhere = ({ nowhere: id }: Scene): string => id;
const completed = ({ completed: id }: Scene): string => id;
const failed = ({ failed: id }: Scene): string => id;

/** http-api.md 6 to 10. */
export const ACTION_REFUSALS: readonly Refusal[] = [
  ['6.1 an unknown instance', 404, 'instance', patch({ state: 'paused' }, nowhere)],
  ['6.1 an unknown state', 422, 'state', patch({ state: 'asleep' }, completed)],
  ['6.1 no state', 422, 'missing field `state`', patch({}, completed)],
  ['6.1 completed to paused names the first state', 400, 'completed', patch({ state: 'paused' }, completed)],
  ['6.1 completed to paused names the second state', 400, 'paused', patch({ state: 'paused' }, completed)],
  ['6.1 waiting to paused', 400, 'waiting', patch({ state: 'paused' }, ({ gated }) => gated)],
  ['6.1 the same state again', 400, 'waiting', patch({ state: 'waiting' }, ({ gated }) => gated)],
  ['6.1 paused to completed', 400, 'paused', patch({ state: 'completed' }, ({ paused }) => paused)],
  ['6.2 no context', 422, 'missing field `context`', on('PATCH', '/context', {})],
  [
    '6.2 a context of an unknown instance',
    404,
    'instance',
    on('PATCH', '/context', { context: {} }, nowhere),
  ],
  [
    '6.2 a context that is too large',
    413,
    'context too large',
    on('PATCH', '/context', { context: { data: { x: 'x'.repeat(262_200) } } }),
  ],
  ['6.3 no type', 422, 'missing field `signal_type`', signal({})],
  ['6.3 a typing error', 422, 'signal_type', signal({ signal_type: 'cancle' })],
  ['6.3 another object', 422, 'signal_type', signal({ signal_type: { other: 'x' } })],
  ['6.3 a blank custom name', 400, '', signal({ signal_type: { custom: ' ' } })],
  ['6.3 an unknown instance', 404, 'instance', signal({ signal_type: 'pause' }, nowhere)],
  ['6.3 a completed instance', 400, 'completed', signal({ signal_type: 'cancel' }, completed)],
  ['6.3 a failed instance', 400, 'failed', signal({ signal_type: { custom: 'x' } }, failed)],
  ['6.4 a retry of a completed instance', 400, 'completed', on('POST', '/retry', {}, completed)],
  ['6.4 a retry of a waiting instance', 400, 'waiting', on('POST', '/retry', {})],
  ['6.4 a retry of nobody', 404, 'instance', on('POST', '/retry', {}, nowhere)],
  ['6.5 a waiting instance', 400, 'waiting', on('POST', '/resume-from/a', {})],
  ['6.5 an unknown block', 400, 'none', on('POST', '/resume-from/none', {}, completed)],
  [
    '6.5 a context that is a list',
    400,
    'context',
    on('POST', '/resume-from/say', { context: [] }, completed),
  ],
  ['6.5 an unknown instance', 404, 'instance', on('POST', '/resume-from/a', {}, nowhere)],
  ['6.6 no block', 422, 'missing field `from_block_id`', on('POST', '/fork', {})],
  ['6.6 an unknown block', 400, 'none', on('POST', '/fork', { from_block_id: 'none' })],
  ['6.6 a context that is a text', 400, 'context', on('POST', '/fork', { from_block_id: 'a', context: 'x' })],
  ['6.6 an unknown instance', 404, 'instance', on('POST', '/fork', { from_block_id: 'a' }, nowhere)],
  ['6.6 a preview without block', 400, 'missing field `from_block_id`', on('GET', '/fork-preview')],
  ['6.6 a preview of an unknown block', 404, 'none', on('GET', '/fork-preview?from_block_id=none')],
  [
    '6.6 a preview of an unknown instance',
    404,
    'instance',
    on('GET', '/fork-preview?from_block_id=a', undefined, nowhere),
  ],
  ['6.7 nothing to inject', 400, '', on('POST', '/inject-blocks', { blocks: [] })],
  ['6.7 no blocks', 422, 'missing field `blocks`', on('POST', '/inject-blocks', {})],
  [
    '6.7 a block of unknown shape',
    400,
    '',
    on('POST', '/inject-blocks', { blocks: [{ type: 'teleport', id: 'x' }] }),
  ],
  [
    '6.7 an id that is taken',
    400,
    'duplicate block id',
    on('POST', '/inject-blocks', { blocks: [{ type: 'step', id: 'a', handler: 'noop' }] }),
  ],
  [
    '6.7 a negative position',
    400,
    'position',
    on('POST', '/inject-blocks', { blocks: [{ type: 'step', id: 'x', handler: 'noop' }], position: -1 }),
  ],
  [
    '6.7 an unknown instance',
    404,
    'instance',
    on('POST', '/inject-blocks', { blocks: [{ type: 'step', id: 'x', handler: 'noop' }] }, nowhere),
  ],
  ['6.8 no data', 422, 'missing field `checkpoint_data`', on('POST', '/checkpoints', {})],
  [
    '6.8 a checkpoint of nobody',
    404,
    'instance',
    on('POST', '/checkpoints', { checkpoint_data: 1 }, nowhere),
  ],
  ['6.8 no checkpoint yet', 404, 'checkpoint', on('GET', '/checkpoints/latest')],
  ['6.8 to keep less than none', 400, 'keep', on('POST', '/checkpoints/prune', { keep: -1 })],
  ['6.8 to keep what is not said', 422, 'missing field `keep`', on('POST', '/checkpoints/prune', {})],
  ['6.8 to prune nobody’s', 404, 'instance', on('POST', '/checkpoints/prune', { keep: 1 }, nowhere)],
  [
    '6.9 a comparison with nobody',
    404,
    'instance',
    (scene) => ['GET', `/instances/${scene.completed}/compare/${scene.nowhere}`],
  ],
  [
    '6.9 a comparison of nobody',
    404,
    'instance',
    (scene) => ['GET', `/instances/${scene.nowhere}/compare/${scene.completed}`],
  ],
  ['7.1 an id that is none', 400, '', () => ['GET', '/instances/nope/diagnosis']],
  [
    '7.2 a preview that is stale',
    400,
    'stale or does not belong',
    on('POST', '/remediations/apply', { preview_id: 'x' }, failed),
  ],
  ['7.2 no preview', 422, 'missing field `preview_id`', on('POST', '/remediations/apply', {}, failed)],
  [
    '7.2 an unknown instance',
    404,
    'instance',
    on('POST', '/remediations/apply', { preview_id: 'x' }, nowhere),
  ],
  [
    '7.2 a risk that nobody acknowledges',
    400,
    'acknowledge_side_effect_risk',
    (scene) => ['POST', `/instances/${scene.failed}/remediations/apply`, { preview_id: scene.retryPreview }],
  ],
  [
    '7.2 what only a person can do',
    400,
    'manually',
    (scene) => [
      'POST',
      `/instances/${scene.gated}/remediations/apply`,
      { preview_id: scene.gatePreview, acknowledge_side_effect_risk: true },
    ],
  ],
  ['7.3 an unknown block', 404, 'none', on('GET', '/blocks/none/resolved-input')],
  ['7.3 a block that is no step', 400, 'both', on('GET', '/blocks/both/resolved-input')],
  ['8 no state', 422, 'missing field `state`', () => ['PATCH', '/instances/bulk/state', { filter: {} }]],
  [
    '8 no filter',
    422,
    'missing field `filter`',
    () => ['PATCH', '/instances/bulk/state', { state: 'paused' }],
  ],
  [
    '8 an unknown state in a filter',
    422,
    'states',
    () => ['PATCH', '/instances/bulk/state', { filter: { states: ['asleep'] }, state: 'paused' }],
  ],
  [
    '8 no offset',
    422,
    'missing field `offset_secs`',
    () => ['PATCH', '/instances/bulk/reschedule', { filter: {} }],
  ],
  ['8 no action', 422, 'missing field `action`', () => ['POST', '/instances/batch-action', { filter: {} }]],
  [
    '8 an unknown action',
    422,
    'action',
    () => ['POST', '/instances/batch-action', { filter: {}, action: 'explode' }],
  ],
  [
    '8 a signal without type',
    400,
    'signal_type',
    () => ['POST', '/instances/batch-action', { filter: {}, action: 'signal' }],
  ],
  [
    '9 an unknown fingerprint',
    404,
    '',
    () => ['POST', '/instances/dlq/groups/0000000000000000/retry', { mode: 'sample' }],
  ],
  [
    '9 no mode',
    422,
    'missing field `mode`',
    ({ fingerprint }) => ['POST', `/instances/dlq/groups/${fingerprint}/retry`, {}],
  ],
  [
    '9 an unknown mode',
    422,
    'mode',
    ({ fingerprint }) => ['POST', `/instances/dlq/groups/${fingerprint}/retry`, { mode: 'all' }],
  ],
  [
    '9 a bulk retry that is locked',
    409,
    '',
    ({ fingerprint }) => ['POST', `/instances/dlq/groups/${fingerprint}/retry`, { mode: 'bulk' }],
  ],
  [
    '9 a bulk retry behind a run that is no sample',
    409,
    '',
    ({ fingerprint, completed: id }) => [
      'POST',
      `/instances/dlq/groups/${fingerprint}/retry`,
      { mode: 'bulk', sample_verified_instance_id: id },
    ],
  ],
  ['10 a negative limit', 400, 'limit', () => ['GET', '/approvals?limit=-1']],
  ['22 a cursor that does not decode', 400, 'malformed change cursor', () => ['GET', '/changes?cursor=nope']],
  [
    '22 a stream behind such a cursor',
    400,
    'malformed change cursor',
    () => ['GET', '/changes/stream?cursor=nope'],
  ],
  ['24 no tenant', 400, 'missing field `tenant_id`', () => ['GET', '/api-keys']],
  [
    '24 a blank tenant',
    400,
    'tenant_id query parameter is required',
    () => ['GET', '/api-keys?tenant_id=%20'],
  ],
  ['24 a key of a blank tenant', 400, 'tenant_id', () => ['POST', '/api-keys', { tenant_id: ' ' }]],
  [
    '24 an unknown capability',
    422,
    'capabilities',
    () => ['POST', '/api-keys', { tenant_id: TENANT, capabilities: ['king'] }],
  ],
  ['24 a key without tenant', 422, 'missing field `tenant_id`', () => ['POST', '/api-keys', {}]],
  ['24 an unknown key', 404, '', () => ['DELETE', '/api-keys/ak_00000000000000000000000000000000']],
  ['25 a node whose id is none', 400, '', () => ['POST', '/cluster/nodes/nope/drain']],
  ['13 another tenant', 403, '', ({ event }) => ['POST', '/events', { ...event, tenant_id: OTHER_TENANT }]],
];
