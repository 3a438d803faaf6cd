import type { JsonObject } from '../../../src/core/json.ts';
import { OTHER_TENANT, TENANT } from '../../api/support/api-fixture.ts';
import type { Scene } from '../support/scene.ts';
import { at, creating, type Refusal, type Request } from './refusal.ts';

const plugin = creating('/plugins', () => ({
  name: 'new',
  plugin_type: 'wasm',
  source: 's',
  tenant_id: TENANT,
}));
const rule = creating('/routing-rules', () => ({
  tenant_id: TENANT,
  handler_name: 'h',
  queue_override: 'q',
}));
const pin = creating('/workers/version-pins', () => ({
  tenant_id: TENANT,
  handler_name: 'h',
  min_version: '1',
}));
const command = creating('/workers/commands', () => ({ worker_id: 'w', command: 'ping' }));
const poll = creating('/workers/tasks/poll', () => ({ handler_name: 'nobody_polls', worker_id: 'w' }));
const pollQueue = creating('/workers/tasks/poll/queue', () => ({
  handler_name: 'h',
  worker_id: 'w',
  queue_name: 'q',
}));
const report =
  (verb: string, body: JsonObject, whose: (scene: Scene) => string = ({ claimed }) => claimed): Request =>
  (scene) => ['POST', `/workers/tasks/${whose(scene)}/${verb}`, body];

const CLAIM = { worker_id: 'w-1', claim_epoch: 1 };

/** http-api.md 18 to 21. */
export const WORKER_REFUSALS: readonly Refusal[] = [
  ...['name', 'plugin_type', 'source'].map(
    (name): Refusal => [`18 a plugin without ${name}`, 422, `missing field \`${name}\``, plugin(name)],
  ),
  ['18 an empty name', 400, 'name', plugin({ name: '' })],
  ['18 an empty source', 400, 'source', plugin({ source: '' })],
  ['18 an unknown type', 422, 'plugin_type', plugin({ plugin_type: 'dll' })],
  ['18 an unknown plugin', 404, '', at('GET', () => '/plugins/none')],
  ['18 an unknown plugin to change', 404, '', at('PATCH', () => '/plugins/none', { enabled: false })],
  ['18 an unknown plugin to delete', 404, '', at('DELETE', () => '/plugins/none')],
  ['19.2 a poll without handler', 422, 'missing field `handler_name`', poll('handler_name')],
  ['19.2 a poll without worker', 422, 'missing field `worker_id`', poll('worker_id')],
  ['19.2 a poll of no queue', 422, 'missing field `queue_name`', pollQueue('queue_name')],
  ...['complete', 'fail', 'heartbeat'].flatMap((verb): Refusal[] => {
    const body = { ...CLAIM, output: 1, message: 'm' };
    return [
      [`19.3 ${verb} of an unknown task`, 404, '', report(verb, body, ({ nowhere }) => nowhere)],
      [`19.3 ${verb} by another worker`, 409, 'conflict: ', report(verb, { ...body, worker_id: 'w-2' })],
      [`19.3 ${verb} of another claim`, 409, 'conflict: ', report(verb, { ...body, claim_epoch: 2 })],
      [
        `19.3 ${verb} of a closed task`,
        409,
        'conflict: ',
        report(verb, { ...body, worker_id: 'w-rich', claim_epoch: 2 }, ({ taskId }) => taskId),
      ],
      [
        `19.3 ${verb} without worker`,
        422,
        'missing field `worker_id`',
        report(verb, { claim_epoch: 1, output: 1, message: 'm' }),
      ],
      [
        `19.3 ${verb} without epoch`,
        422,
        'missing field `claim_epoch`',
        report(verb, { worker_id: 'w-1', output: 1, message: 'm' }),
      ],
    ];
  }),
  ['19.3 a completion without output', 422, 'missing field `output`', report('complete', CLAIM)],
  ['19.3 a failure without message', 422, 'missing field `message`', report('fail', CLAIM)],
  [
    '19.3 a checkpoint without number',
    400,
    'checkpoint_seq',
    report('heartbeat', { ...CLAIM, checkpoint: 1 }),
  ],
  [
    '19.3 a checkpoint over 256 KiB',
    413,
    '',
    report('heartbeat', { ...CLAIM, checkpoint: 'x'.repeat(262_145), checkpoint_seq: 0 }),
  ],
  [
    '19.3 a checkpoint with a stale number',
    409,
    'conflict: ',
    report('heartbeat', { ...CLAIM, checkpoint: 1, checkpoint_seq: 5 }),
  ],
  ['19.4 an unknown state of tasks', 400, 'state', at('GET', () => '/workers/tasks?state=lost')],
  [
    '19.4 attempts of an unknown task',
    404,
    '',
    at('GET', ({ nowhere }) => `/workers/tasks/${nowhere}/attempts`),
  ],
  ['19.5 a command for nobody', 400, 'worker_id', command({ worker_id: ' ' })],
  ['19.5 an unknown command', 422, 'command', command({ command: 'dance' })],
  ['19.5 a command without worker', 422, 'missing field `worker_id`', command('worker_id')],
  ...['tenant_id', 'handler_name', 'min_version'].flatMap((name): Refusal[] => [
    [`19.5 a pin without ${name}`, 422, `missing field \`${name}\``, pin(name)],
    [
      `19.5 a pin with a blank ${name}`,
      name === 'tenant_id' ? 403 : 400,
      name === 'tenant_id' ? '' : name,
      pin({ [name]: ' ' }),
    ],
  ]),
  ...['handler_name', 'queue_override'].flatMap((name): Refusal[] => [
    [`20 a rule without ${name}`, 422, `missing field \`${name}\``, rule(name)],
    [`20 a rule with a blank ${name}`, 400, name, rule({ [name]: ' ' })],
  ]),
  ['20 a rule of another tenant', 403, '', rule({ tenant_id: OTHER_TENANT })],
  ['20 an unknown rule', 404, '', at('GET', ({ nowhere }) => `/routing-rules/${nowhere}`)],
  ['20 an unknown rule to delete', 404, '', at('DELETE', ({ nowhere }) => `/routing-rules/${nowhere}`)],
  [
    '21.2 an unknown webhook to deliver',
    404,
    '',
    at('POST', ({ nowhere }) => `/webhooks/outbox/${nowhere}/redeliver`),
  ],
  [
    '21.2 a preview of an unknown webhook',
    404,
    '',
    at('GET', ({ nowhere }) => `/webhooks/outbox/${nowhere}/redeliver-preview`),
  ],
  [
    '21.2 an unknown class of errors',
    400,
    'error_class',
    at('GET', () => '/webhooks/deliveries?error_class=bad'),
  ],
  ['21.2 an unknown delivery', 404, '', at('GET', ({ nowhere }) => `/webhooks/deliveries/${nowhere}`)],
];
