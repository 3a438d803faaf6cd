import type { JsonObject } from '../../../src/core/json.ts';
import { OTHER_TENANT, TENANT } from '../../api/support/api-fixture.ts';
import type { Scene } from '../support/scene.ts';
import type { Refusal } from './refusal.ts';

const start =
  (overrides: JsonObject) =>
  (scene: Scene): readonly [string, string, unknown] => ['POST', '/instances', scene.start(overrides)];

/** http-api.md 5. */
export const INSTANCE_REFUSALS: readonly Refusal[] = [
  [
    '5.2 no sequence',
    422,
    'missing field `sequence_id`',
    () => ['POST', '/instances', { tenant_id: TENANT, namespace: 'n' }],
  ],
  ['5.2 a sequence id that is no UUID', 422, 'sequence_id', start({ sequence_id: 'nope' })],
  ['5.2 a priority that is none', 422, 'priority', start({ priority: 'Urgent' })],
  ['5.2 a blank namespace', 400, 'namespace must not be empty', start({ namespace: ' ' })],
  ['5.2 an empty namespace', 400, 'namespace must not be empty', start({ namespace: '' })],
  ['5.2 another tenant', 403, '', start({ tenant_id: OTHER_TENANT })],
  [
    '5.2 an unknown sequence',
    404,
    'sequence',
    (scene) => ['POST', '/instances', scene.start({ sequence_id: scene.nowhere })],
  ],
  [
    '5.2 a sequence of another tenant',
    404,
    'sequence',
    (scene) => ['POST', '/instances', scene.start({ sequence_id: scene.foreignSequence })],
  ],
  [
    '5.2 an unknown session',
    404,
    'session',
    (scene) => ['POST', '/instances', scene.start({ session_id: scene.nowhere })],
  ],
  [
    '5.2 data that violates the schema',
    422,
    '/parcel',
    (scene) => [
      'POST',
      '/instances',
      scene.start({ sequence_id: scene.sequenceId, context: { data: { parcel: 7 } } }),
    ],
  ],
  [
    '1.8 a context that is too large',
    413,
    'context too large',
    start({ context: { data: { big: 'x'.repeat(262_200) } } }),
  ],
  ['5.2 nobody at once', 400, 'max_concurrency', start({ concurrency_key: 'k', max_concurrency: 0 })],
  ['5.2 a negative budget', 400, 'max_steps', start({ budget: { max_steps: -1 } })],
  ['5.3 no list', 422, 'missing field `instances`', () => ['POST', '/instances/batch', {}]],
  [
    '5.3 a bad element',
    400,
    'instances[1]: namespace must not be empty',
    (scene) => ['POST', '/instances/batch', { instances: [scene.start(), scene.start({ namespace: '' })] }],
  ],
  [
    '5.3 an unknown sequence',
    404,
    'instances[1]: ',
    (scene) => [
      'POST',
      '/instances/batch',
      { instances: [scene.start(), scene.start({ sequence_id: scene.nowhere })] },
    ],
  ],
  [
    '5.3 one key twice',
    409,
    '',
    (scene) => [
      'POST',
      '/instances/batch',
      { instances: [scene.start({ idempotency_key: 'twice' }), scene.start({ idempotency_key: 'twice' })] },
    ],
  ],
  [
    '5.3 a key that exists',
    409,
    '',
    (scene) => ['POST', '/instances/batch', { instances: [scene.start({ idempotency_key: 'rich-1' })] }],
  ],
  [
    '1.8 more than 10,000',
    400,
    'batch size must not exceed 10,000',
    (scene) => [
      'POST',
      '/instances/batch',
      { instances: Array.from({ length: 10_001 }, () => scene.start()) },
    ],
  ],
  ['5.4 an unknown state', 400, 'state', () => ['GET', '/instances?state=asleep']],
  ...[
    '',
    '/tree',
    '/outputs',
    '/children',
    '/logs',
    '/audit',
    '/timeline',
    '/stream',
    '/artifacts',
    '/checkpoints',
    '/checkpoints/latest',
    '/diagnosis',
    '/remediations',
  ].map(
    (part): Refusal => [
      `5.4 an unknown instance${part}`,
      404,
      part.endsWith('latest') ? 'checkpoint' : 'not found: instance',
      ({ nowhere }) => ['GET', `/instances/${nowhere}${part}`],
    ],
  ),
  [
    '5.4 an unknown instance with effects',
    404,
    'instance',
    ({ nowhere }) => ['GET', `/instances/${nowhere}/effects?tenant_id=${TENANT}`],
  ],
  ['5.4 an unknown artifact', 404, '', ({ completed }) => ['GET', `/artifacts/${completed}/none`]],
];
