import { ok, type Result } from '../core/result.ts';
import { nodeId } from '../core/run/node-id.ts';
import type { Plan } from '../core/run/plan.ts';
import type { Wake } from '../core/run/record.ts';
import { isTerminal } from '../core/run/states.ts';
import { type Timer, timersOf } from '../core/run/wake.ts';
import type { InstanceView } from '../ports/store/reads.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import { type Caller, nudgeAccepted, type UseCaseDeps } from './use-case.ts';

/**
 * Ends timers of a run now: its start, delays, send windows, back-offs, sleeps and the polls of its loops, those of one
 * node when it is named. Deadlines, and the time that is left to answer a gate, a task or an event, stay as they are.
 *
 * The timers are named in a fact, which the turn takes in that holds the run or claims it next; one that has ended by then
 * is left alone, and so is whatever came after it. Answers the timers; a second call finds none. 404 unknown instance or
 * node, 400 for an instance that has ended.
 */
export async function wakeInstance(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
  node: string | null,
): Promise<Result<readonly Timer[], Refusal>> {
  const frontier = await deps.store.getFrontier(caller.tenantId, instanceId);
  if (frontier === null) return notFound('instance', instanceId);
  const { instance, frames, now } = frontier;
  if (isTerminal(instance.state)) return hasEnded(instance);
  const plan = await deps.definitions.planOf(instance);
  const blockId = node === null || plan === null ? null : blockOf(instance, plan, node);
  if (node !== null && blockId === null) return notFound('node', node);
  const timers = plan === null ? [] : timersOf(instance, { frames, plan, now }, blockId);
  if (timers.length === 0) return ok([]);
  const target = { tenantId: caller.tenantId, instanceId };
  const answer = await deps.store.wakeInstance({
    ...target,
    factId: deps.ids.newId(),
    wake: wakeOf(timers),
  });
  if (answer === 'not_found') return notFound('instance', instanceId);
  if (answer === 'terminal') return hasEnded(instance);
  await nudgeAccepted(deps, target);
  return ok(timers);
}

function hasEnded({ id }: InstanceView): ReturnType<typeof refuse> {
  return refuse('invalid_argument', `instance ${id} has ended`, { code: 'instance_terminal' });
}

function blockOf({ id, createdAt }: InstanceView, plan: Plan, node: string): string | null {
  const found = plan.inOrder.find(
    ({ block, position }) =>
      nodeId({ instanceId: id, createdAt, position, blockId: block.id }) === node.toLowerCase(),
  );
  return found?.block.id ?? null;
}

function wakeOf(timers: readonly Timer[]): Wake {
  const start = timers.find(({ reason }) => reason === 'start');
  return {
    ends: timers.flatMap((timer) => {
      if (timer.reason === 'start') return [];
      const { blockId, iteration, wakeAt } = timer;
      return [{ blockId, iteration, wakeAt }];
    }),
    startAt: start?.wakeAt ?? null,
    limit: null,
  };
}
