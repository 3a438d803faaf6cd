import type { JsonObject } from '../../../src/core/json.ts';
import { OTHER_TENANT, TENANT } from '../../api/support/api-fixture.ts';
import { at, creating, type Refusal, type Request } from './refusal.ts';

const NAMED = { tenant_id: TENANT, namespace: 'fulfilment' };
const cron = creating('/cron', ({ sequenceId }) => ({
  ...NAMED,
  sequence_id: sequenceId,
  cron_expr: '0 9 * * *',
}));
const trigger = creating('/triggers', () => ({ ...NAMED, slug: 'new', sequence_name: 'rich' }));
const event = creating('/events', ({ event: body }) => body);
const session = creating('/sessions', () => ({ tenant_id: TENANT, session_key: 'new' }));
const pool = creating('/pools', () => ({ tenant_id: TENANT, name: 'new' }));
const credential = creating('/credentials', () => ({ id: 'new', tenant_id: TENANT, name: 'n', value: 'v' }));
const resource =
  (spoil: JsonObject | string): Request =>
  (scene) =>
    creating(`/pools/${scene.pool}/resources`, () => ({ resource_key: 'r', name: 'n' }))(spoil)(scene);

/** http-api.md 11 to 18. */
export const OUTSIDE_REFUSALS: readonly Refusal[] = [
  ...['tenant_id', 'namespace', 'sequence_id', 'cron_expr'].map(
    (name): Refusal => [`11 a schedule without ${name}`, 422, `missing field \`${name}\``, cron(name)],
  ),
  ['11 a bad expression', 400, '', cron({ cron_expr: 'every day' })],
  ['11 an unknown zone', 400, 'Mars', cron({ timezone: 'Mars/Olympus' })],
  ['11 an unknown policy', 422, 'overlap_policy', cron({ overlap_policy: 'never' })],
  ['11 an unknown sequence', 404, 'sequence', (scene) => cron({ sequence_id: scene.nowhere })(scene)],
  [
    '11 a sequence of another tenant',
    403,
    '',
    (scene) => cron({ sequence_id: scene.foreignSequence })(scene),
  ],
  ['11 another tenant', 403, '', cron({ tenant_id: OTHER_TENANT })],
  ['11 a blank tenant beside another one', 403, '', cron({ tenant_id: ' ' })],
  ['11 an empty tenant of a schedule', 422, 'tenant_id', cron({ tenant_id: '' })],
  ['11 an unknown schedule', 404, '', at('GET', ({ nowhere }) => `/cron/${nowhere}`)],
  ['11 an unknown schedule to change', 404, '', at('PUT', ({ nowhere }) => `/cron/${nowhere}`, {})],
  [
    '11 a change to a bad expression',
    400,
    '',
    at('PUT', (scene) => `/cron/${scene.cron}`, { cron_expr: '61 * * * *' }),
  ],
  ['11 a change to an unknown zone', 400, '', at('PUT', (scene) => `/cron/${scene.cron}`, { timezone: 'x' })],
  [
    '11 a change to an unknown policy',
    422,
    '',
    at('PUT', (scene) => `/cron/${scene.cron}`, { overlap_policy: 'x' }),
  ],
  ['11 an unknown schedule to delete', 404, '', at('DELETE', ({ nowhere }) => `/cron/${nowhere}`)],
  ['11 fires of an unknown schedule', 404, '', at('GET', ({ nowhere }) => `/cron/${nowhere}/next-fires`)],
  ...['slug', 'sequence_name', 'tenant_id'].map(
    (name): Refusal => [`12.1 a trigger without ${name}`, 422, `missing field \`${name}\``, trigger(name)],
  ),
  ['12.1 an empty slug', 400, 'slug', trigger({ slug: '' })],
  ['12.1 a slug that is too long', 400, 'slug', trigger({ slug: 's'.repeat(256) })],
  ['1.1 a slug that is a path of the API', 400, '', trigger({ slug: 'outbox' })],
  ['1.1 a slug that is another path of the API', 400, '', trigger({ slug: 'deliveries' })],
  ['12.1 an empty secret', 400, 'secret', trigger({ secret: '' })],
  ['1.6 the sign of a hidden secret', 422, 'secret', trigger({ secret: '[REDACTED]' })],
  ['12.1 an unknown type', 422, 'trigger_type', trigger({ trigger_type: 'telepathy' })],
  ['12.1 a name that nobody has', 404, '', trigger({ sequence_name: 'nobody' })],
  ['12.1 a version that nobody has', 404, '', trigger({ version: 77 })],
  ['12.1 a slug that exists', 409, 'already exists: ', (scene) => trigger({ slug: scene.trigger })(scene)],
  ['12.1 an unknown trigger', 404, '', at('GET', () => '/triggers/none')],
  ['12.1 an unknown trigger to delete', 404, '', at('DELETE', () => '/triggers/none')],
  ['12.2 an unknown trigger to fire', 404, '', at('POST', () => '/triggers/none/fire', {})],
  [
    '12.2 a disabled trigger',
    400,
    'disabled',
    at('POST', (scene) => `/triggers/${scene.disabledTrigger}/fire`, {}),
  ],
  [
    '12.2 a trigger without its secret',
    401,
    '',
    at('POST', (scene) => `/triggers/${scene.secretTrigger}/fire`, {}),
  ],
  ['12.3 an unknown webhook', 404, '', at('POST', () => '/webhooks/none', {})],
  ['12.3 a disabled webhook', 404, '', at('POST', (scene) => `/webhooks/${scene.disabledTrigger}`, {})],
  ['12.3 a webhook without secret', 401, '', at('POST', (scene) => `/webhooks/${scene.trigger}`, {})],
  ['12.3 a webhook without proof', 401, '', at('POST', (scene) => `/webhooks/${scene.secretTrigger}`, {})],
  ...['tenant_id', 'event_name', 'producer_event_id', 'correlation_key'].flatMap((name): Refusal[] => [
    [`13 an event without ${name}`, 422, `missing field \`${name}\``, event(name)],
    [
      `13 an event with a blank ${name}`,
      name === 'tenant_id' ? 403 : 400,
      name === 'tenant_id' ? '' : name,
      event({ [name]: ' ' }),
    ],
  ]),
  ['13 no event', 400, '', at('POST', () => '/events/batch', { events: [] })],
  [
    '1.8 more than 100 events',
    400,
    '',
    ({ event: body }) => ['POST', '/events/batch', { events: Array.from({ length: 101 }, () => body) }],
  ],
  [
    '13 an event of another tenant in a batch',
    403,
    '',
    ({ event: body }) => ['POST', '/events/batch', { events: [body, { ...body, tenant_id: OTHER_TENANT }] }],
  ],
  [
    '13 a blank event in a batch',
    400,
    'event_name',
    ({ event: body }) => ['POST', '/events/batch', { events: [body, { ...body, event_name: '' }] }],
  ],
  ['13 an unknown status', 400, 'status', at('GET', () => '/events?status=lost')],
  ['13 an unknown event', 404, '', at('GET', ({ nowhere }) => `/events/${nowhere}`)],
  ...['tenant_id', 'session_key'].map(
    (name): Refusal => [`14 a session without ${name}`, 422, `missing field \`${name}\``, session(name)],
  ),
  ['14 an empty key', 400, 'session_key', session({ session_key: '' })],
  ['14 a key that is too long', 400, 'session_key', session({ session_key: 'k'.repeat(513) })],
  [
    '14 a key that exists',
    409,
    'already exists: ',
    (scene) => session({ session_key: scene.session.session_key })(scene),
  ],
  ['14 data that are too large', 413, '', session({ data: 'x'.repeat(262_200) })],
  ['14 an unknown session', 404, '', at('GET', ({ nowhere }) => `/sessions/${nowhere}`)],
  ['14 an unknown key', 404, '', at('GET', () => `/sessions/by-key/${TENANT}/none`)],
  [
    '1.4 a path with another tenant',
    404,
    '',
    (scene) => ['GET', `/sessions/by-key/${OTHER_TENANT}/${scene.session.session_key}`],
  ],
  [
    '14 data of an unknown session',
    404,
    '',
    at('PATCH', ({ nowhere }) => `/sessions/${nowhere}/data`, { data: 1 }),
  ],
  [
    '14 no data',
    422,
    'missing field `data`',
    at('PATCH', (scene) => `/sessions/${scene.session.id}/data`, {}),
  ],
  [
    '14 new data that are too large',
    413,
    '',
    at('PATCH', (scene) => `/sessions/${scene.session.id}/data`, { data: 'x'.repeat(262_200) }),
  ],
  [
    '14 an unknown state',
    422,
    'state',
    at('PATCH', (scene) => `/sessions/${scene.session.id}/state`, { state: 'lost' }),
  ],
  [
    '14 a state of an unknown session',
    404,
    '',
    at('PATCH', ({ nowhere }) => `/sessions/${nowhere}/state`, { state: 'paused' }),
  ],
  [
    '14 instances of an unknown session',
    404,
    '',
    at('GET', ({ nowhere }) => `/sessions/${nowhere}/instances`),
  ],
  ['15 a pool without tenant', 422, 'missing field `tenant_id`', pool('tenant_id')],
  ['15 a pool without name', 422, 'missing field `name`', pool('name')],
  ['15 a pool with an empty name', 400, 'name', pool({ name: '' })],
  ['15 an unknown strategy', 422, 'strategy', pool({ strategy: 'best' })],
  ['15 a pool of another tenant', 403, '', pool({ tenant_id: OTHER_TENANT })],
  ['15 an unknown pool', 404, '', at('GET', ({ nowhere }) => `/pools/${nowhere}`)],
  ['15 an unknown pool to delete', 404, '', at('DELETE', ({ nowhere }) => `/pools/${nowhere}`)],
  ['15 resources of an unknown pool', 404, '', at('GET', ({ nowhere }) => `/pools/${nowhere}/resources`)],
  ['15 a resource without key', 422, 'missing field `resource_key`', resource('resource_key')],
  ['15 a resource without name', 422, 'missing field `name`', resource('name')],
  ['15 a resource with an empty key', 400, 'resource_key', resource({ resource_key: '' })],
  ['15 a resource with a long name', 400, 'name', resource({ name: 'n'.repeat(256) })],
  ['15 a resource without weight', 400, 'weight', resource({ weight: 0 })],
  [
    '15 a resource of an unknown pool',
    404,
    '',
    at('POST', ({ nowhere }) => `/pools/${nowhere}/resources`, { resource_key: 'r', name: 'n' }),
  ],
  [
    '15 an unknown resource',
    404,
    '',
    at('PUT', (scene) => `/pools/${scene.pool}/resources/${scene.nowhere}`, { weight: 2 }),
  ],
  [
    '15 a resource of another pool',
    404,
    '',
    at('DELETE', (scene) => `/pools/${scene.otherPool}/resources/${scene.resource}`),
  ],
  [
    '16 a breaker that was never touched',
    404,
    '',
    at('GET', () => `/tenants/${TENANT}/circuit-breakers/none`),
  ],
  ['1.4 breakers of another tenant', 404, '', at('GET', () => `/tenants/${OTHER_TENANT}/circuit-breakers`)],
  [
    '1.4 a breaker of another tenant',
    404,
    '',
    at('POST', () => `/tenants/${OTHER_TENANT}/circuit-breakers/x/reset`),
  ],
  ...['id', 'name', 'value'].flatMap((name): Refusal[] => [
    [`17 a credential without ${name}`, 422, `missing field \`${name}\``, credential(name)],
    [`17 a credential with an empty ${name}`, 400, name, credential({ [name]: '' })],
  ]),
  ['17 an id with strange characters', 400, 'id', credential({ id: 'a/b' })],
  ['17 an id that is too long', 400, 'id', credential({ id: 'a'.repeat(256) })],
  ['17 an unknown kind', 422, 'kind', credential({ kind: 'password' })],
  ['17 a value that is no text', 422, 'value', credential({ value: { a: 1 } })],
  ['17 a value over 256 KiB', 400, 'value', credential({ value: 'v'.repeat(262_145) })],
  ['1.6 the sign of a hidden value', 422, 'value', credential({ value: '[REDACTED]' })],
  [
    '17 a refresh without token',
    400,
    'refresh_token',
    credential({ kind: 'oauth2', refresh_url: 'https://example.com/t' }),
  ],
  [
    '17 a private address',
    400,
    'refresh_url',
    credential({ kind: 'oauth2', refresh_url: 'http://127.0.0.1/t', refresh_token: 't' }),
  ],
  [
    '17 an address of another scheme',
    400,
    'refresh_url',
    credential({ kind: 'oauth2', refresh_url: 'ftp://example.com/t', refresh_token: 't' }),
  ],
  ['17 an id that exists', 409, 'already exists: ', (scene) => credential({ id: scene.credential })(scene)],
  ['17 an unknown credential', 404, '', at('GET', () => '/credentials/none')],
  ['17 an unknown credential to change', 404, '', at('PATCH', () => '/credentials/none', { name: 'n' })],
  ['17 an unknown credential to delete', 404, '', at('DELETE', () => '/credentials/none')],
];
