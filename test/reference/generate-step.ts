import type { Json, JsonObject } from '../../src/core/json.ts';
import type { Draw } from './draw.ts';
import type { Answer } from './world.ts';

/** What the parts of a case share while it is drawn. */
export interface Generation {
  readonly draw: Draw;
  readonly answers: { [blockId: string]: readonly Answer[] };
  /** Steps of the main sequence with a gate. */
  readonly gates: string[];
  /** Steps so far, to refer to. */
  readonly steps: string[];
  blocks: number;
  names: number;
  isChild: boolean;
  readonly itemVars: string[];
  /** Inside a branch: handlers that take no time would all end at one instant, in no defined order. */
  isConcurrent: boolean;
  readonly hasRetries: boolean;
  readonly failPercent: number;
}

export function generateStep(generation: Generation): JsonObject {
  const { draw } = generation;
  generation.names += 1;
  const id = `${generation.isChild ? 'c' : 's'}${generation.names}`;
  const kind = draw.oneOf(['act', 'act', 'act', 'worker_act', 'worker_act', 'sleep', 'pure']);
  const step =
    kind === 'pure' && !generation.isConcurrent ? pureStep(generation, id) : calledStep(generation, id, kind);
  const made = { ...step, ...guards(generation, id) };
  if (!generation.isConcurrent) generation.steps.push(id);
  return made;
}

function pureStep({ draw, itemVars, steps }: Generation, id: string): JsonObject {
  const block = steps.length === 0 ? 'none' : draw.oneOf(steps);
  const item = itemVars.length === 0 ? 'n' : draw.oneOf(itemVars);
  const [handler, params] = draw.oneOf<readonly [string, Json]>([
    ['noop', {}],
    ['log', { message: `{{data.${item}}}` }],
    ['transform', { v: `{{outputs.${block}.v}}`, error: '{{data._error.block_id}}' }],
    ['transform', { item: `{{data.${item}}}`, w: '{{data.w}}' }],
    ['set_state', { key: 'k', value: `{{data.${item}}}` }],
    ['transform', { state: '{{state.k}}' }],
    ['assert', { condition: 'data.n > 0' }],
    ['fail', { code: 'FORCED' }],
    ['transform', '{{nope.x}}'],
  ]);
  return { type: 'step', id, handler, params };
}

function calledStep(generation: Generation, id: string, kind: string): JsonObject {
  const { draw } = generation;
  const handler = kind === 'pure' ? 'act' : kind;
  if (handler === 'sleep') {
    return { type: 'step', id, handler, params: { duration_ms: 2001 + draw.below(9000) } };
  }
  const mustEnd = handler === 'act';
  generation.answers[id] = Array.from({ length: 1 + draw.below(3) }, () => answerFor(generation, mustEnd));
  const item = generation.itemVars.length === 0 ? 'n' : draw.oneOf(generation.itemVars);
  // What another branch writes at the same instant may be there or not.
  const error = generation.isConcurrent ? {} : { e: '{{data._error}}' };
  const params = draw.chance(50) ? { item: `{{data.${item}}}`, w: '{{data.w}}', ...error } : {};
  return { type: 'step', id, handler, params };
}

function answerFor({ draw, failPercent }: Generation, mustEnd: boolean): Answer {
  const takeMs = 101 + draw.below(9000);
  if (draw.chance(failPercent)) {
    const code = draw.oneOf(['BUSY', 'BROKEN', 'LOST']);
    const details = draw.chance(30) ? { details: { status: 503 } } : {};
    return { kind: 'fail', takeMs, retryable: draw.chance(60), code, ...details };
  }
  if (!mustEnd && draw.chance(4)) return { kind: 'silent' };
  return {
    kind: 'ok',
    takeMs,
    output: draw.oneOf<Json>([{ v: 1 }, { v: 2, w: 1 }, { n: draw.below(3) }, null, 'text', []]),
  };
}

function guards(generation: Generation, id: string): JsonObject {
  const { draw, isChild } = generation;
  const some = (percent: number, members: () => JsonObject): JsonObject =>
    draw.chance(percent) ? members() : {};
  return {
    ...some(8, () => ({ when: draw.oneOf(['true', 'data.n > 0', 'false', '', 'n ==']) })),
    ...some(10, () => ({ delay: { duration: 1001 + draw.below(5000) } })),
    ...some(3, () => ({ send_window: { start_hour: 9, end_hour: 17 } })),
    ...some(isChild ? 0 : 8, () => gate(generation, id)),
    ...some(generation.hasRetries ? 40 : 0, () => retry(draw)),
    ...some(12, () => ({ timeout: 1001 + draw.below(6000) })),
    ...some(10, () => deadline(draw)),
    ...some(15, () => ({ cancellable: false })),
    ...some(5, () => ({ cache_key: draw.oneOf(['same', '{{data.n}}', '']) })),
    ...some(5, () => ({ output_schema: { type: 'object' } })),
    ...some(5, () => ({
      context_access: { data: draw.oneOf<Json>([false, { fields: ['n', 'item'] }, true]) },
    })),
  };
}

function gate({ draw, gates }: Generation, id: string): JsonObject {
  gates.push(id);
  return {
    wait_for_input: {
      prompt: 'go on with {{data.n}}?',
      allow_comment: draw.chance(30),
      ...(draw.chance(60) ? { timeout: 2001 + draw.below(9000) } : {}),
      ...(draw.chance(30) ? { escalation_handler: 'tell' } : {}),
      ...(draw.chance(30) ? { store_as: 'n' } : {}),
    },
  };
}

function retry(draw: Draw): JsonObject {
  return {
    retry: {
      max_attempts: 1 + draw.below(3),
      initial_backoff: 201 + draw.below(2000),
      max_backoff: 4001 + draw.below(1000),
      ...(draw.chance(50) ? { backoff_multiplier: draw.oneOf([1, 1.5, 0.5]) } : {}),
      ...(draw.chance(20) ? { retry_if: draw.oneOf(["_error.code == 'BUSY'", 'data.n > 0', 'n ==']) } : {}),
      ...(draw.chance(20) ? { non_retryable_codes: [draw.oneOf(['LOST', '503'])] } : {}),
    },
  };
}

function deadline(draw: Draw): JsonObject {
  return {
    deadline: 1501 + draw.below(9000),
    ...(draw.chance(40) ? { on_deadline_breach: { handler: 'tell', params: { n: '{{data.n}}' } } } : {}),
  };
}
