import type { JsonObject } from '../../../src/core/json.ts';
import { OTHER_TENANT } from '../../api/support/api-fixture.ts';
import type { Scene } from '../support/scene.ts';
import type { Refusal } from './refusal.ts';

const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});
const publish =
  (spoil: (draft: JsonObject) => JsonObject) =>
  (scene: Scene): readonly [string, string, unknown] => ['POST', '/sequences', spoil(scene.draft())];
const without = (name: string) =>
  publish((draft) => Object.fromEntries(Object.entries(draft).filter(([key]) => key !== name)));
const blocks = (...some: readonly JsonObject[]) => publish((draft) => ({ ...draft, blocks: some }));
/** http-api.md 1 to 4. */
export const SEQUENCE_REFUSALS: readonly Refusal[] = [
  ['1.1 a path that matches no route', 404, '', () => ['GET', '/no/such/path']],
  ['1.5 a UUID of a path that does not parse', 400, '', () => ['GET', '/instances/nope']],
  ['1.5 a list with a negative limit', 400, 'limit', () => ['GET', '/sequences?limit=-1']],
  ['1.5 a list with an offset that is no number', 400, 'offset', () => ['GET', '/sequences?offset=ten']],
  [
    '1.4 a tenant other than the caller’s',
    403,
    '',
    publish((draft) => ({ ...draft, tenant_id: OTHER_TENANT })),
  ],
  ['1.4 an empty tenant', 422, 'tenant_id', publish((draft) => ({ ...draft, tenant_id: '' }))],
  ['3.3 a sequence without created_at', 422, 'missing field `created_at`', without('created_at')],
  ['3.3 a sequence without blocks', 422, 'missing field `blocks`', without('blocks')],
  ['3.3 a sequence with an empty list of blocks', 400, '', publish((draft) => ({ ...draft, blocks: [] }))],
  ['3.3 an unknown block type', 422, '', blocks({ type: 'teleport', id: 'a' })],
  [
    '3.3 a for_each without collection',
    422,
    'missing field `collection`',
    blocks({ type: 'for_each', id: 'f', body: [step('a')] }),
  ],
  ['3.3 a handler that is not a string', 422, 'handler', blocks(step('a', { handler: 5 }))],
  ['3.3 an unknown status', 422, 'status', publish((draft) => ({ ...draft, status: 'secret' }))],
  ['3.3 a duplicate block id', 400, 'duplicate block id', blocks(step('a'), step('a'))],
  ['3.3 an empty block id', 400, '', blocks(step(''))],
  [
    '3.3 a loop without end',
    400,
    'l',
    blocks({ type: 'loop', id: 'l', condition: 'true', body: [step('a')], max_iterations: 0 }),
  ],
  [
    '3.3 a loop over 100,000 passes',
    400,
    'l',
    blocks({ type: 'loop', id: 'l', condition: 'true', body: [step('a')], max_iterations: 100_001 }),
  ],
  [
    '3.3 a loop that retains nothing',
    400,
    'l',
    blocks({ type: 'loop', id: 'l', condition: 'true', body: [step('a')], retain_iterations: 0 }),
  ],
  [
    '3.3 a loop with a blank condition',
    400,
    'l',
    blocks({ type: 'loop', id: 'l', condition: ' ', body: [step('a')] }),
  ],
  ['3.3 a loop with an empty body', 400, 'l', blocks({ type: 'loop', id: 'l', condition: 'true', body: [] })],
  [
    '3.3 a for_each with a blank collection',
    400,
    'f',
    blocks({ type: 'for_each', id: 'f', collection: ' ', body: [step('a')] }),
  ],
  ['3.3 a parallel without branches', 400, 'p', blocks({ type: 'parallel', id: 'p', branches: [] })],
  [
    '3.2 a split of one variant',
    400,
    's',
    blocks({ type: 'a_b_split', id: 's', variants: [{ name: 'a', weight: 1, blocks: [step('a')] }] }),
  ],
  [
    '3.2 a split without weight',
    400,
    's',
    blocks({
      type: 'a_b_split',
      id: 's',
      variants: [
        { name: 'a', weight: 0, blocks: [] },
        { name: 'b', weight: 0, blocks: [] },
      ],
    }),
  ],
  [
    '3.2 a split of two variants of one name',
    400,
    's',
    blocks({
      type: 'a_b_split',
      id: 's',
      variants: [
        { name: 'a', weight: 1, blocks: [] },
        { name: 'a', weight: 1, blocks: [] },
      ],
    }),
  ],
  [
    '3.2 no attempts',
    400,
    'a',
    blocks(step('a', { retry: { max_attempts: 0, initial_backoff: 1, max_backoff: 1 } })),
  ],
  [
    '3.2 a retry without backoff',
    422,
    'missing field `initial_backoff`',
    blocks(step('a', { retry: { max_attempts: 1, max_backoff: 1 } })),
  ],
  ['3.2 a delay without duration', 422, 'missing field `duration`', blocks(step('a', { delay: {} }))],
  ['3.2 a negative delay', 422, 'duration', blocks(step('a', { delay: { duration: -1 } }))],
  [
    '3.2 a window that never opens',
    400,
    'a',
    blocks(step('a', { send_window: { start_hour: 9, end_hour: 9 } })),
  ],
  ['3.2 a gate without choices', 400, 'a', blocks(step('a', { wait_for_input: { choices: [] } }))],
  [
    '3.2 a gate with one value twice',
    400,
    'a',
    blocks(
      step('a', {
        wait_for_input: {
          choices: [
            { label: 'A', value: 'x' },
            { label: 'B', value: 'x' },
          ],
        },
      }),
    ),
  ],
  ['3.3 a compensation without handler', 400, 'a', blocks(step('a', { compensation: { handler: '' } }))],
  [
    '3.3 a compensation that waits for itself',
    400,
    'a',
    blocks(step('a', { compensation: { handler: 'noop', depends_on: ['a'] } })),
  ],
  [
    '3.3 a schema that is none',
    400,
    'input_schema',
    publish((draft) => ({ ...draft, input_schema: { type: 'nonsense' } })),
  ],
  [
    '3.3 an id that exists',
    409,
    'already exists: ',
    (scene) => ['POST', '/sequences', scene.draft({ id: scene.sequenceId })],
  ],
  [
    '3.3 a version that exists',
    409,
    'already exists: ',
    (scene) => ['POST', '/sequences', scene.draft({ name: 'rich' })],
  ],
  ['3.4 an unknown sequence', 404, 'sequence', ({ nowhere }) => ['GET', `/sequences/${nowhere}`]],
  [
    '3.4 a look-up without namespace',
    400,
    'missing field `namespace`',
    () => ['GET', '/sequences/by-name?name=n'],
  ],
  [
    '3.4 a look-up without name',
    400,
    'missing field `name`',
    () => ['GET', '/sequences/by-name?namespace=n'],
  ],
  [
    '3.4 a look-up of versions without name',
    400,
    'missing field `name`',
    () => ['GET', '/sequences/versions?namespace=n'],
  ],
  ['3.4 a name that nobody has', 404, '', () => ['GET', '/sequences/by-name?namespace=n&name=n']],
  [
    '3.5 an unknown sequence to deprecate',
    404,
    '',
    ({ nowhere }) => ['POST', `/sequences/${nowhere}/deprecate`],
  ],
  [
    '3.5 a transition that is not allowed',
    400,
    '',
    ({ sequenceId }) => ['POST', `/sequences/${sequenceId}/status`, { status: 'draft' }],
  ],
  [
    '3.5 an unknown status to go to',
    422,
    'status',
    ({ sequenceId }) => ['POST', `/sequences/${sequenceId}/status`, { status: 'gone' }],
  ],
  ['3.5 an unknown name to promote', 404, '', () => ['POST', '/sequences/nobody/promote']],
  ['3.5 an unknown name to unpublish', 404, '', () => ['POST', '/sequences/nobody/unpublish']],
  ['3.5 a sequence in use', 409, '', ({ gatedSequence }) => ['DELETE', `/sequences/${gatedSequence}`]],
  ['3.5 an unknown sequence to delete', 404, '', ({ nowhere }) => ['DELETE', `/sequences/${nowhere}`]],
  [
    '3.6 an unknown instance to migrate',
    404,
    '',
    ({ nowhere, sequenceId }) => [
      'POST',
      '/sequences/migrate-instance',
      { instance_id: nowhere, target_sequence_id: sequenceId },
    ],
  ],
  [
    '3.6 an unknown target',
    404,
    '',
    ({ gated, nowhere }) => [
      'POST',
      '/sequences/migrate-instance',
      { instance_id: gated, target_sequence_id: nowhere },
    ],
  ],
  [
    '3.6 a terminal instance',
    400,
    '',
    ({ completed, sequenceId }) => [
      'POST',
      '/sequences/migrate-instance',
      { instance_id: completed, target_sequence_id: sequenceId },
    ],
  ],
  [
    '4.1 an unknown sequence to preflight',
    404,
    '',
    ({ nowhere }) => ['GET', `/sequences/${nowhere}/preflight`],
  ],
  ['4.2 an unknown sequence to check', 404, '', ({ nowhere }) => ['GET', `/sequences/${nowhere}/dataflow`]],
  ['4.3 no template', 422, 'missing field `template`', () => ['POST', '/debug/template', {}]],
  [
    '4.4 a draft and an id',
    400,
    '',
    ({ draft, sequenceId }) => [
      'POST',
      '/sequences/inspect-template',
      { sequence: draft(), sequence_id: sequenceId, block_id: 'first' },
    ],
  ],
  ['4.4 neither draft nor id', 400, '', () => ['POST', '/sequences/inspect-template', { block_id: 'first' }]],
  [
    '4.4 an unknown block',
    404,
    '',
    ({ sequenceId }) => [
      'POST',
      '/sequences/inspect-template',
      { sequence_id: sequenceId, block_id: 'none' },
    ],
  ],
  [
    '4.4 a block that is no step',
    400,
    '',
    ({ sequenceId }) => [
      'POST',
      '/sequences/inspect-template',
      { sequence_id: sequenceId, block_id: 'twice' },
    ],
  ],
];
