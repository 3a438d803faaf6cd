import type { Draft } from '../core/run/draft.ts';
import type { Escalation } from '../core/run/escalation.ts';
import type { CallOutcome } from './handler-call.ts';
import type { InvocationContext } from './invoke-interceptors.ts';
import { callAside, isWriting } from './side-call.ts';
import type { TurnDeps } from './turn-deps.ts';

const ESCALATION_TIMEOUT_MS = 10_000;

/**
 * Calls the escalations whose handlers are pure, before what they are about is committed ([DL-3], [HI-10]). What they want
 * written goes with that commit: all or nothing with the breach, and once, since a refused commit leaves nothing behind.
 * Errors are ignored but for the log. The others stay until the commit is stored.
 */
export async function escalateAtOnce(deps: TurnDeps, context: InvocationContext): Promise<void> {
  const { draft } = context;
  for (const escalation of draft.escalations.takeAll()) {
    const found = deps.handlers.lookup(escalation.handler);
    if (found.type === 'handler' && found.handler.kind === 'pure') {
      const outcome = await call(deps, context, escalation);
      tellOutcome(deps, draft, escalation, outcome);
      if (outcome?.ok === true) takeWrites(deps, draft, escalation, outcome);
    } else draft.escalations.push(escalation);
  }
}

/** Best effort, in process only, bounded, after the commit; the run does not wait and errors are ignored ([HI-10]). */
export function callEscalations(deps: TurnDeps, draft: Draft): void {
  for (const escalation of draft.escalations.takeAll()) {
    void callAside(deps, draft, sideCallOf(escalation)).then((outcome) => {
      tellOutcome(deps, draft, escalation, outcome);
      // The run has gone on, and may have ended: there is no commit of its own that could carry them.
      if (outcome?.ok === true && isWriting(outcome)) tellDropped(deps, draft, escalation);
    });
  }
}

function call(
  deps: TurnDeps,
  { draft, reads, lease }: InvocationContext,
  escalation: Escalation,
): Promise<CallOutcome | null> {
  const key = { tenantId: draft.record.tenantId, instanceId: draft.record.id };
  return callAside(deps, draft, sideCallOf(escalation), {
    readState: async (name) => {
      const known = draft.knowledge.stateValue(name);
      return known === null ? (await reads.readState(key, [name])).get(name) : known.value;
    },
    countState: () => reads.countState(key),
    mayWait: () => lease.leftMs() > 0,
  });
}

/** The name makes its key: two escalations of one run are two, and the same one told again is the same ([IDEM-1]). */
function sideCallOf({ handler, params, blockId, iteration }: Escalation) {
  const name = `_escalation:${blockId}`;
  return { handler, params, name, iteration, attempt: 0, timeoutMs: ESCALATION_TIMEOUT_MS };
}

function takeWrites(
  deps: TurnDeps,
  draft: Draft,
  escalation: Escalation,
  { writes, outside, injects }: Extract<CallOutcome, { ok: true }>,
): void {
  for (const { key, value } of writes) {
    draft.push('kv', value === undefined ? { key, deleted: true } : { key, value });
    draft.knowledge.setState(key, value);
  }
  if (outside !== undefined)
    draft.outside.add({ signals: outside.signals ?? [], emits: outside.emits ?? [] });
  // There is no step that could be replaced, or that the events would be for.
  if (injects !== undefined || (outside?.takes ?? []).length > 0) tellDropped(deps, draft, escalation);
}

/** The message may hold data of the user and is left out. */
function tellOutcome(
  deps: TurnDeps,
  draft: Draft,
  { handler, blockId }: Escalation,
  outcome: CallOutcome | null,
): void {
  const where = { handler, instance_id: draft.record.id, block_id: blockId };
  if (outcome === null) deps.log.warn('an escalation handler is not registered here', where);
  else if (!outcome.ok) {
    deps.log.warn('an escalation failed', { ...where, code: outcome.failure.code ?? null });
  }
}

function tellDropped(deps: TurnDeps, draft: Draft, { handler, blockId }: Escalation): void {
  const where = { handler, instance_id: draft.record.id, block_id: blockId };
  deps.log.warn('what an escalation wanted written is dropped', where);
}
