import type { Block } from '../core/definition/document.ts';
import type { Frame, Leaf } from '../core/run/frame.ts';
import { compareIterations } from '../core/run/iteration-order.ts';
import { currentList, innerIteration, type Plan } from '../core/run/plan.ts';
import type { WorkerTask } from '../ports/store/accept.ts';
import { firstLine } from '../core/failure.ts';
import { redactedExcerpt } from '../core/redaction.ts';
import { canonicalJson, type Json, isJsonObject } from '../core/json.ts';
import type { Frontier } from '../ports/store/reads.ts';
import type { Wait } from './explanation.ts';
import { workedOn } from './worked-on.ts';

/** Everything that an open instance hangs on, most telling first. Without a plan the blocks stay unnamed. */
export function openWaits(frontier: Frontier, plan: Plan | null): readonly Wait[] {
  const { instance } = frontier;
  const standing = frontier.frames
    .flatMap((frame) => waitsOfFrame(frontier, plan, frame))
    .sort((left, right) => compareIterations(left.iteration, right.iteration));
  // What was due when the turn came is what it is at; its wait is only stored still.
  const isHeld = instance.leaseUntil !== null && instance.leaseUntil > frontier.now;
  const isOver = ({ blockId, until }: Wait) =>
    isHeld && blockId !== null && until !== null && until <= frontier.now;
  const leaves = standing.filter((wait) => !isOver(wait));
  const isNamed = plan === null || leaves.some(({ kind }) => kind === 'lease');
  const at = isHeld && !isNamed ? [...standing.filter(isOver), ...workedOn(frontier, plan)] : [];
  const own = instance.state === 'paused' ? [pause(frontier)] : claimWaits(frontier, at, leaves.length > 0);
  return [
    ...own.filter(({ kind }) => kind === 'pause'),
    ...leaves,
    ...own.filter(({ kind }) => kind !== 'pause'),
  ];
}

function pause({ instance }: Frontier): Wait {
  const reason = instance.metadata['paused_reason'];
  const detail = pauseDetail(reason, instance.metadata['budget_breach']);
  return { kind: 'pause', blockId: null, iteration: '', since: instance.updatedAt, until: null, detail };
}

function pauseDetail(reason: Json | undefined, breach: Json | undefined): string {
  if (typeof reason !== 'string') return 'is paused';
  if (reason !== 'budget_exceeded' || !isJsonObject(breach)) return `is paused (${reason})`;
  const { limit = null, limit_value: cap = null, actual = null } = breach;
  const shown = [limit, cap, actual].map((value) =>
    typeof value === 'string' ? value : canonicalJson(value),
  );
  return `is paused: its budget ${shown[0]} of ${shown[1]} is exceeded (${shown[2]})`;
}

/** What the instance as a whole waits for: its lease, or the turn that claims it. */
function claimWaits(
  { instance, now }: Frontier,
  at: readonly Pick<Wait, 'blockId' | 'iteration'>[],
  hasLeaves: boolean,
): readonly Wait[] {
  const { leaseUntil, dueAt, updatedAt } = instance;
  const whole = { blockId: null, iteration: '' };
  if (leaseUntil !== null) {
    const held = { kind: 'lease', since: updatedAt, until: leaseUntil } as const;
    if (at.length > 0)
      return at.map(({ blockId, iteration }) => ({
        ...held,
        blockId,
        iteration,
        detail: 'is being worked on',
      }));
    const detail = leaseUntil > now ? 'a turn works on it' : 'a turn held it and did not end';
    return [{ ...whole, ...held, detail }];
  }
  if (dueAt === null) return [];
  if (dueAt <= now)
    return [{ ...whole, kind: 'due', since: dueAt, until: null, detail: 'is due and waits for a turn' }];
  if (instance.waitsForSlot === true) {
    const detail = `waits for a free slot of the concurrency key '${instance.concurrencyKey ?? ''}'`;
    return [{ ...whole, kind: 'limit', since: updatedAt, until: dueAt, detail }];
  }
  // The timer of a leaf says the same with its block.
  if (hasLeaves) return [];
  return [{ ...whole, kind: 'timer', since: updatedAt, until: dueAt, detail: 'starts at a set time' }];
}

function waitsOfFrame(frontier: Frontier, plan: Plan | null, frame: Frame): readonly Wait[] {
  if (frame.state !== 'open') return [];
  const { detail } = frame;
  if (detail.kind === 'loop' && detail.pollUntil !== null && !detail.inPass) {
    const what = 'waits between two passes';
    return [wait('timer', frame.blockId, frame.iteration, frame.startedAt, detail.pollUntil, what)];
  }
  if (frame.leaf === null) return [];
  const block = plan === null ? undefined : currentList(plan, frame)[frame.cursor];
  const found = waitOfLeaf(frontier, frame.leaf, block, innerIteration(frame));
  return found === null ? [] : [found];
}

function waitOfLeaf(
  frontier: Frontier,
  leaf: Leaf,
  block: Block | undefined,
  iteration: string,
): Wait | null {
  const id = block?.id ?? null;
  const { reason, wakeAt } = leaf;
  const since = leaf.dispatchedAt ?? leaf.startedAt;
  if (leaf.state === 'failed' || leaf.state === 'cancelled') return null;
  switch (reason) {
    case null:
      if (leaf.state !== 'running' || leaf.dispatchedAt === null) return null;
      return wait('lease', id, iteration, since, null, `runs try ${leaf.attempt + 1}`);
    case 'delay':
      return wait('timer', id, iteration, since, wakeAt, 'waits for its delay');
    case 'send_window':
      return wait('timer', id, iteration, since, wakeAt, 'waits until its send window opens');
    case 'rate_limit':
    case 'breaker':
    case 'pool':
      return wait('limit', id, iteration, since, wakeAt, limitDetail(reason, leaf.limit ?? ''));
    case 'retry':
      return wait('timer', id, iteration, since, wakeAt, retryDetail(leaf));
    case 'handler':
      return wait('timer', id, iteration, since, wakeAt, handlerDetail(block));
    case 'sleep':
      return wait('timer', id, iteration, since, wakeAt, 'sleeps');
    case 'worker':
      return taskWait(frontier.openTasks, leaf, id, iteration);
    case 'input':
      return wait('gate', id, iteration, leaf.gate?.openedAt ?? since, wakeAt, gateDetail(leaf));
    case 'child':
      return wait(
        'child',
        id,
        iteration,
        since,
        wakeAt,
        `waits for the instance ${leaf.childId ?? 'it started'}`,
      );
    case 'event':
      return wait('event', id, iteration, since, wakeAt, 'waits for an event');
  }
}

/** The cause is text from outside: its first line, bounded and without what looks like a secret. */
function retryDetail({ attempt, error }: Leaf): string {
  const cause = redactedExcerpt(firstLine(error?.message ?? ''));
  return `waits for try ${attempt + 1} after a failure${cause === '' ? '' : `: ${cause}`}`;
}

function limitDetail(reason: 'rate_limit' | 'breaker' | 'pool', name: string): string {
  switch (reason) {
    case 'rate_limit':
      return `waits for a token of the rate limit '${name}'`;
    case 'breaker':
      return `waits because the circuit breaker of '${name}' is open`;
    case 'pool':
      return `waits because the pool '${name}' is exhausted`;
  }
}

function handlerDetail(block: Block | undefined): string {
  const name = block?.type === 'step' ? ` '${block.handler}'` : '';
  return `waits for a process whose build has the handler${name}`;
}

function gateDetail({ gate }: Leaf): string {
  if (gate === null) return 'waits for an answer';
  const refused = gate.refused === undefined ? '' : refusedDetail(gate.refused);
  if (gate.kind === 'outcome') return 'asks what became of a try whose end is unknown';
  const values = gate.choices.map(({ value }) => value).join(', ');
  const events = gate.waitId === undefined ? '' : 'events or ';
  return `waits for ${events}one of the answers ${values}${refused}`;
}

/** The last answer that was consumed without effect ([HI-3]): nothing else tells its sender. */
function refusedDetail({ at, why }: { readonly at: number; readonly why: string }): string {
  return ` (the answer of ${new Date(at).toISOString()} was not taken: ${why})`;
}

function taskWait(tasks: readonly WorkerTask[], leaf: Leaf, id: string | null, iteration: string): Wait {
  const task = tasks.find((candidate) => candidate.id === leaf.taskId);
  if (task === undefined)
    return wait('task', id, iteration, leaf.startedAt, leaf.wakeAt, 'waits for a worker');
  const detail =
    task.state === 'claimed'
      ? `waits for worker ${task.workerId ?? 'unknown'}, which claimed it`
      : `waits for a worker that serves '${task.handlerName}'`;
  return wait('task', task.blockId, iteration, task.claimedAt ?? task.createdAt, leaf.wakeAt, detail);
}

function wait(
  kind: Wait['kind'],
  blockId: string | null,
  iteration: string,
  since: number,
  until: number | null,
  detail: string,
): Wait {
  return { kind, blockId, iteration, since, until, detail };
}
