import type { Members, Notation } from '../support/notation.ts';

/** What a success of a route shows, by status; null: an empty body. Text and streams are named by their media type. */
export type Answers = Readonly<Record<number, Notation | Members | null>>;

const INSTANCE_STARTED = { id: 'uuid', '+deduplicated': 'bool', '+conflict?': 'true' };

/** Every route of http-api.md with the answers of its text. */
export const ANSWERS: Readonly<Record<string, Answers>> = {
  // 2
  'GET /health/live': { 200: { status: 'ok' } },
  'GET /health/ready': {
    200: { status: 'ready' },
    503: { status: 'not_ready', reason: 'database_unreachable|migrations_pending|engine_stopped|draining' },
  },
  'GET /info': {
    200: {
      version: 'str',
      storage_schema_version: 'int',
      contract_schema_version: 'int',
      env_label: 'str|null',
      env_color: 'str|null',
      // RULINGS B20
      '+max_body_bytes': 'int',
    },
  },
  'GET /metrics': { 200: 'text/plain' },
  'GET /api-docs/openapi.json': { 200: 'obj' },
  'GET /swagger-ui': { 200: 'text/html' },
  // 3
  'POST /sequences': { 201: { id: 'uuid', 'warnings?': 'str[]', '+warning_details?': 'obj[]' } },
  'GET /sequences': { 200: { items: '@sequence[]', has_more: 'bool' } },
  'GET /sequences.json': { 200: '@sequence[]' },
  'GET /sequences/{id}': { 200: '@sequence' },
  'GET /sequences/by-name': { 200: '@sequence' },
  'GET /sequences/versions': { 200: '@sequence[]' },
  'POST /sequences/{id}/deprecate': { 204: null },
  'POST /sequences/{id}/status': { 204: null },
  'POST /sequences/{name}/promote': { 201: { id: 'uuid', version: 'int' } },
  'POST /sequences/{name}/unpublish': { 204: null },
  'DELETE /sequences/{id}': { 204: null },
  'POST /sequences/migrate-instance': {
    200: {
      migrated: 'true',
      instance_id: 'uuid',
      from_sequence_id: 'uuid',
      to_sequence_id: 'uuid',
      '+pending': 'bool',
    },
  },
  // 4
  'POST /sequences/preflight': { 200: '@preflight' },
  'GET /sequences/{id}/preflight': { 200: '@preflight' },
  'POST /sequences/dataflow': { 200: '@dataflow' },
  'GET /sequences/{id}/dataflow': { 200: '@dataflow' },
  'POST /debug/template': { 200: '@template' },
  'POST /sequences/inspect-template': { 200: '@trace' },
  // 5
  'POST /instances': { 200: INSTANCE_STARTED, 201: INSTANCE_STARTED },
  'POST /instances/batch': { 200: { count: 'int' }, 201: { count: 'int' } },
  'GET /instances/{id}': { 200: '@instance' },
  'GET /instances': { 200: { items: '@instance[]', has_more: 'bool', '+next_cursor?': 'str' } },
  'GET /instances/{id}/tree': { 200: '@node[]' },
  'GET /instances/{id}/outputs': { 200: '@output[]' },
  'GET /instances/{id}/children': { 200: '@instance[]' },
  'GET /instances/{id}/logs': { 200: '@log[]' },
  'GET /instances/{id}/audit': { 200: '@audit[]' },
  'GET /instances/{id}/effects': { 200: '@effect[]' },
  'GET /instances/{id}/artifacts': { 200: { items: '@artifact[]' } },
  'GET /artifacts/{instance_id}/{artifact_id}': { 200: '*/*' },
  'GET /instances/{id}/timeline': { 200: '@timeline' },
  'GET /instances/{id}/stream': { 200: 'text/event-stream' },
  // 6
  'PATCH /instances/{id}/state': { 200: null },
  'PATCH /instances/{id}/context': { 200: null },
  // RULINGS A36: the repeat of a signal is 200 with the first id.
  'POST /instances/{id}/signals': { 200: { signal_id: 'uuid' }, 201: { signal_id: 'uuid' } },
  'POST /instances/{id}/retry': { 200: { id: 'uuid', state: 'scheduled' } },
  'POST /instances/{id}/resume-from/{block_id}': {
    200: {
      id: 'uuid',
      state: 'scheduled',
      resumed_from: 'str',
      outputs_deleted: 'int',
      signals_enqueued: 'int',
      '+iteration': 'str',
    },
  },
  'POST /instances/{id}/fork': {
    201: {
      id: 'uuid',
      forked_from: 'uuid',
      state: 'scheduled',
      copied_blocks: 'int',
      rerun_blocks: 'str[]',
      dry_run: 'bool',
    },
  },
  'GET /instances/{id}/fork-preview': {
    200: {
      instance_id: 'uuid',
      from_block_id: 'str',
      copied_blocks: 'str[]',
      re_executed_blocks: 'str[]',
      side_effect_blocks: 'str[]',
      sandbox_default: 'true',
    },
  },
  'POST /instances/{id}/inject-blocks': {
    200: { injected_block_ids: 'str[]', position: 'int|null', total_injected: 'int' },
  },
  'POST /instances/{id}/checkpoints': { 201: { id: 'uuid' } },
  'GET /instances/{id}/checkpoints': { 200: '@checkpoint[]' },
  'GET /instances/{id}/checkpoints/latest': { 200: '@checkpoint' },
  'POST /instances/{id}/checkpoints/prune': { 200: { count: 'int' } },
  'GET /instances/{id}/compare/{other}': {
    200: {
      left: 'uuid',
      right: 'uuid',
      left_state: 'str',
      right_state: 'str',
      only_left: 'str[]',
      only_right: 'str[]',
      differing_outputs: 'str[]',
      matching_blocks: 'int',
    },
  },
  // 7
  'GET /instances/{id}/diagnosis': {
    200: { instance_id: 'uuid', state: 'str', diagnoses: '@diagnosis[]', generated_at: 'ts' },
  },
  'GET /instances/{id}/remediations': { 200: '@preview[]' },
  'POST /instances/{id}/remediations/apply': {
    200: { preview_id: 'str', action: 'str', before_state: 'str', after_state: 'str', applied_at: 'ts' },
  },
  'GET /instances/{id}/blocks/{block_id}/resolved-input': { 200: '@trace' },
  // 8
  'PATCH /instances/bulk/state': { 200: { count: 'int' } },
  'PATCH /instances/bulk/reschedule': { 200: { count: 'int' } },
  'POST /instances/batch-action': {
    200: { matched: 'int', applied: 'int', skipped: 'int', failed: 'int', dry_run: 'bool' },
  },
  // 9
  'GET /instances/dlq': { 200: '@dead_letter[]' },
  'GET /instances/dlq/groups': { 200: '@dead_letter_group[]' },
  'POST /instances/dlq/groups/{fingerprint}/retry': {
    200: { fingerprint: 'hex16', mode: 'sample|bulk', retried: 'uuid[]', skipped: 'int' },
  },
  // 10
  'GET /approvals': { 200: { items: '@approval[]', total: 'int' } },
  // 11
  'POST /cron': { 201: { id: 'uuid', next_fire_at: 'ts|null' } },
  'GET /cron': { 200: '@schedule[]' },
  'GET /cron/{id}': { 200: '@schedule' },
  'PUT /cron/{id}': { 200: '@schedule' },
  'DELETE /cron/{id}': { 204: null },
  'GET /cron/{id}/next-fires': { 200: { timezone: 'str', fires: 'ts[]', '+preview': 'obj[]' } },
  // 12
  'POST /triggers': { 201: '@trigger' },
  'GET /triggers': { 200: '@trigger[]' },
  'GET /triggers/{slug}': { 200: '@trigger' },
  'DELETE /triggers/{slug}': { 204: null },
  'POST /triggers/{slug}/fire': { 201: { instance_id: 'uuid', trigger: 'str', sequence_name: 'str' } },
  // RULINGS B21: a provider's challenge is answered with 200 and its text.
  'POST /webhooks/{slug}': { 202: { instance_id: 'uuid', trigger: 'str' }, 200: 'text/plain' },
  // 13
  'POST /events': { 200: '@accepted_event', 201: '@accepted_event' },
  'POST /events/batch': { 200: { outcomes: '@accepted_event[]' } },
  'GET /events': { 200: '@event[]' },
  'GET /events/{id}': { 200: '@event' },
  // 14
  'POST /sessions': { 201: '@session' },
  'GET /sessions/{id}': { 200: '@session' },
  'GET /sessions/by-key/{tenant_id}/{key}': { 200: '@session' },
  'PATCH /sessions/{id}/data': { 200: null },
  'PATCH /sessions/{id}/state': { 200: null },
  'GET /sessions/{id}/instances': { 200: '@instance[]' },
  // 15
  'POST /pools': { 201: '@pool' },
  'GET /pools': { 200: '@pool[]' },
  'GET /pools/{id}': { 200: '@pool' },
  'DELETE /pools/{id}': { 204: null },
  'GET /pools/{id}/resources': { 200: '@resource[]' },
  'POST /pools/{id}/resources': { 201: '@resource' },
  'PUT /pools/{id}/resources/{rid}': { 200: '@resource' },
  'DELETE /pools/{id}/resources/{rid}': { 204: null },
  // 16
  'GET /circuit-breakers': { 200: '@breaker[]' },
  'GET /tenants/{tenant}/circuit-breakers': { 200: '@breaker[]' },
  'GET /tenants/{tenant}/circuit-breakers/{handler}': { 200: '@breaker' },
  'POST /tenants/{tenant}/circuit-breakers/{handler}/reset': { 200: null },
  // 17
  'POST /credentials': { 201: '@credential' },
  'GET /credentials': { 200: '@credential[]' },
  'GET /credentials/{id}': { 200: '@credential' },
  'PATCH /credentials/{id}': { 200: '@credential' },
  'DELETE /credentials/{id}': { 204: null },
  // 18
  'POST /plugins': { 201: '@plugin' },
  'GET /plugins': { 200: '@plugin[]' },
  'GET /plugins/{name}': { 200: '@plugin' },
  'PATCH /plugins/{name}': { 200: '@plugin' },
  'DELETE /plugins/{name}': { 204: null },
  // 19
  'POST /workers/tasks/poll': { 200: '@task[]' },
  'POST /workers/tasks/poll/queue': { 200: '@task[]' },
  'POST /workers/tasks/{id}/complete': { 200: null },
  'POST /workers/tasks/{id}/fail': { 200: null },
  'POST /workers/tasks/{id}/heartbeat': {
    200: { checkpoint_seq: 'int', '+ok': 'true', '+cancelled': 'bool' },
  },
  'GET /workers/tasks': { 200: '@task[]' },
  'GET /workers/tasks/stats': { 200: { by_state: 'obj', by_handler: 'obj', active_workers: 'str[]' } },
  'GET /workers/tasks/{id}/attempts': { 200: '@attempt[]' },
  'GET /workers': { 200: '@worker[]' },
  'GET /handlers': { 200: { builtin: 'str[]', external: 'str[]', '+local': 'str[]' } },
  'POST /workers/commands': { 201: '@command' },
  'GET /workers/{worker_id}/commands': { 200: '@command[]' },
  'DELETE /workers/commands/{id}': { 204: null },
  'POST /workers/version-pins': { 200: '@pin' },
  'GET /workers/version-pins': { 200: '@pin[]' },
  'DELETE /workers/version-pins/{tenant_id}/{handler_name}': { 204: null },
  // 20
  'POST /routing-rules': { 201: '@routing_rule' },
  'GET /routing-rules': { 200: '@routing_rule[]' },
  'GET /routing-rules/{id}': { 200: '@routing_rule' },
  'DELETE /routing-rules/{id}': { 204: null },
  // 21
  'GET /webhooks/outbox': { 200: '@outbox_entry[]' },
  'POST /webhooks/outbox/{id}/redeliver': { 200: { redelivered: 'true', delivery_id: 'str' } },
  'GET /webhooks/outbox/{id}/redeliver-preview': {
    200: {
      url: 'str',
      event_type: 'str',
      payload_bytes: 'int',
      will_be_signed: 'bool',
      'previous_delivery_id?': 'str',
      previous_attempts: 'int',
      'last_error?': 'str',
    },
  },
  'DELETE /webhooks/outbox/{id}': { 204: null },
  'GET /webhooks/deliveries': { 200: '@delivery[]' },
  'GET /webhooks/deliveries/{delivery_id}': { 200: '@delivery_attempt[]' },
  // 22
  'GET /changes': { 200: { changes: '@audit[]', 'next_cursor?': 'str', has_more: 'bool' } },
  'GET /changes/stream': { 200: 'text/event-stream' },
  // 24
  'POST /api-keys': {
    201: {
      id: 'str',
      tenant_id: 'str',
      name: 'str',
      capabilities: 'str[]',
      secret: 'str',
      created_at: 'ts',
      expires_at: 'ts|null',
    },
  },
  'GET /api-keys': { 200: '@key[]' },
  'DELETE /api-keys/{id}': { 204: null },
  // 25
  'GET /cluster/nodes': { 200: '@cluster_node[]' },
  'POST /cluster/nodes/{id}/drain': { 200: null },
};

/** Routes that http-api.md does not have: additions of the rulings, of dashboard.md and of the other specifications. */
export const ADDED_ROUTES: readonly string[] = [
  'GET /swagger-ui/{file}',
  'GET /instances/summary',
  'GET /instances/{id}/outputs/{output_id}',
  'GET /instances/{id}/journal',
  'GET /instances/{id}/explain',
  'POST /sequences/migrate-instance/preview',
  'GET /instances/{id}/verify',
  'POST /instances/{id}/wake',
  'GET /instances/{id}/signals',
  'POST /cron/preview',
  'GET /limits',
  'GET /rate-limits',
  'GET /tenants/{tenant}/rate-limits',
  'PUT /tenants/{tenant}/rate-limits/{key}',
  'GET /tenants/{tenant}/rate-limits/{key}',
  'DELETE /tenants/{tenant}/rate-limits/{key}',
  'PATCH /instances/{id}/budget',
];
