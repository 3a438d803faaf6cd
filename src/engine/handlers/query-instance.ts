import type { Failure } from '../../core/failure.ts';
import type { Json } from '../../core/json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { runtimeSection } from '../../core/run/runtime-section.ts';
import type { StepHandler } from '../../ports/step-handler.ts';
import { failed, failureOf, fromStore } from './outcomes.ts';
import { invalidParams, requiredText } from './params.ts';
import { isUuidText } from './uuid.ts';

const NAME = 'query_instance';

/** `query_instance` (handlers.md 6.3): how another instance of the tenant stands; one that is not there: `found: false`. */
export const queryInstanceHandler: StepHandler = {
  name: NAME,
  kind: 'pure',
  checkParams: (params) => failureOf(parse(params)),
  run: async (call) => {
    const id = parse(call.params);
    if (!id.ok) return failed(id.error);
    const read = await fromStore(() => call.services.instance(id.value));
    if (!read.ok) return failed(read.error);
    if (read.value === null) return { ok: true, output: { found: false } };
    const { view, completedAt, currentNode } = read.value;
    const output = {
      found: true,
      state: view.state,
      context: {
        data: view.data,
        config: view.config,
        audit: [...view.audit],
        runtime: runtimeSection(view),
      },
      started_at: instant(view.createdAt),
      completed_at: completedAt === null ? null : instant(completedAt),
      current_node: currentNode,
      created_at: instant(view.createdAt),
      updated_at: instant(view.updatedAt),
    };
    return { ok: true, output };
  },
};

function parse(params: Json): Result<string, Failure> {
  const id = requiredText(NAME, params, 'instance_id');
  if (!id.ok) return id;
  return isUuidText(id.value)
    ? ok(id.value.toLowerCase())
    : err(invalidParams(NAME, 'instance_id', 'must be a UUID'));
}

function instant(atMs: number): string {
  return new Date(atMs).toISOString();
}
