import type { Scope } from '../expressions/scope.ts';
import type { Json, JsonObject } from '../json.ts';
import { Draft } from '../run/draft.ts';
import type { Env } from '../run/env.ts';
import { Knowledge } from '../run/knowledge.ts';
import type { Plan } from '../run/plan.ts';
import type { InstanceRecord } from '../run/record.ts';

/** What somebody wants templates to be resolved with, in place of a run (http-api.md 4.3, 4.4). */
export interface Sample {
  readonly data: Json;
  readonly config: JsonObject;
  /** By block id. */
  readonly outputs: JsonObject;
}

/** The id that a template reads where there is no instance. */
const NO_INSTANCE = '00000000-0000-0000-0000-000000000000';

/** A run of a plan that has not begun, with this context and these outputs. */
export function sampleRun(plan: Plan, { data, config, outputs }: Sample, env: Env): Draft {
  const knowledge = new Knowledge({ hasHistory: false });
  for (const [blockId, output] of Object.entries(outputs)) knowledge.setOutput(blockId, output);
  const record = { ...recordOf(plan, env.now), data, config };
  const draft = new Draft({ plan, env, knowledge, record, frames: [] });
  draft.ensureRoot();
  return draft;
}

function recordOf({ document }: Plan, now: number): Omit<InstanceRecord, 'data' | 'config'> {
  return {
    id: NO_INSTANCE,
    tenantId: document.tenant_id,
    namespace: document.namespace,
    sequenceId: document.id,
    state: 'scheduled',
    priority: 1,
    timezone: 'UTC',
    nextFireAt: null,
    audit: [],
    metadata: {},
    parent: null,
    depth: 0,
    sessionId: null,
    dryRun: false,
    dryRunAutoApprove: false,
    createdAt: now,
    startedAt: null,
    runNo: 1,
    runId: NO_INSTANCE,
    rev: 0,
    totalSteps: 0,
    recoveryCount: 0,
    cancelRequestedAt: null,
    budget: null,
    usage: null,
    currentStep: null,
    hasHistory: false,
  };
}

/** What a text sees that belongs to no sequence. */
export function sampleScope({ data, config, outputs }: Sample, env: Env): Scope {
  return {
    data,
    config,
    outputs: new Map(Object.entries(outputs)),
    instanceId: NO_INSTANCE,
    runtime: () => ({}),
    state: new Map(),
    items: new Map(),
    now: () => env.now,
    random: env.random,
    uuid: env.uuid,
  };
}
