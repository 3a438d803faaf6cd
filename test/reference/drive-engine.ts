import { patchContext } from '../../src/engine/patch-context.ts';
import { reportTask } from '../../src/engine/report-task.ts';
import type { StepCall, StepOutcome } from '../../src/ports/step-handler.ts';
import type { WorkerTask } from '../../src/ports/store/accept.ts';
import type { Script } from '../engine/support/ledger.ts';
import { START_AT, TENANT, TestEngine } from '../engine/support/test-engine.ts';
import { withoutMessages } from './outcome.ts';
import { readOutcome, withoutIds } from './read-outcome.ts';
import type { Answer, Effect, Happening, Outcome, World } from './world.ts';

export { START_AT };

/** So long after the last thing that should happen the engine is looked at: whatever it does late shows. */
const GRACE_MS = 20_000;
const NEVER_MS = 1_000_000_000_000;
const WORKER = 'worker-1';
const CALLER = { tenantId: TENANT, isAdmin: false };

/** What the real engine makes of a case: real turns, commits and timers over the store in memory, on virtual time. */
export async function runEngine(world: World, endsAt: number): Promise<Outcome> {
  const drive = createDrive(world);
  const { engine } = drive;
  for (const source of world.others) await engine.publish(source.blocks, { name: source.name });
  const sequenceId = await engine.publish(world.main.blocks, { name: world.main.name });
  engine.boot();
  await engine.time.calm();
  const id = engine.nextId();
  for (const happening of world.happenings) {
    engine.time.at(START_AT + happening.at, () => {
      // Not tracked: what people ask for may take time of its own.
      happen(engine, id, happening).catch((error: unknown) => drive.broken.push(error));
    });
  }
  void engine.time.track(engine.start(sequenceId, { id, data: world.data }));
  const nothingMore = async (): Promise<boolean> => {
    await pollTasks(drive);
    await hintAtDueTime(drive);
    return false;
  };
  await engine.time.until(nothingMore, endsAt - START_AT + GRACE_MS);
  if (drive.broken.length > 0) throw new AggregateError(drive.broken, 'what people asked for broke');
  return readOutcome(engine, drive.effects, id);
}

/** The id that `runEngine` gives its first instance. */
export const firstId = (world: World): string =>
  `01800000-0000-7000-8000-${(world.others.length + 2).toString(16).padStart(12, '0')}`;

interface Drive {
  readonly world: World;
  readonly engine: TestEngine;
  readonly effects: Map<string, Effect[]>;
  readonly calls: Map<string, number>;
  readonly broken: unknown[];
  readonly hinted: Set<number>;
}

function createDrive(world: World): Drive {
  const effects = new Map<string, Effect[]>();
  const calls = new Map<string, number>();
  const answers = new WeakMap<StepCall, Answer>();
  const scripted = (handler: string): Script => ({
    takesMs: (call) => {
      const answer = answers.get(call);
      return answer === undefined || answer.kind === 'silent' ? NEVER_MS : answer.takeMs;
    },
    outcome: (call) => {
      const answer = begin(drive, call.instanceId, {
        ...call,
        at: engine.time.now,
        handler,
        block: call.blockId,
      });
      answers.set(call, answer);
      return outcomeOf(answer);
    },
  });
  const escalation: Script = {
    outcome: (call) => {
      const { attempt, params } = call;
      note(drive, call.instanceId, {
        at: engine.time.now,
        handler: 'tell',
        block: '',
        attempt,
        iteration: '',
        params,
      });
      return { ok: true, output: null };
    },
  };
  const engine = new TestEngine({
    scripts: { act: scripted('act'), tell: escalation },
    // Breakers are shared by all steps of a handler; this world is about the tree.
    settings: { sweepMs: NEVER_MS, breakers: { threshold: 1_000_000, cooldownMs: 60_000 } },
  });
  const drive: Drive = { world, engine, effects, calls, broken: [], hinted: new Set() };
  return drive;
}

function outcomeOf(answer: Answer): StepOutcome {
  if (answer.kind !== 'fail') return { ok: true, output: answer.kind === 'ok' ? answer.output : null };
  const { kind: _kind, takeMs: _time, ...failure } = answer;
  return { ok: false, failure: { message: 'scripted', ...failure } };
}

/** Notes an effect and says what it answers: the nth answer for the nth call of a block in its instance. */
function begin(drive: Drive, instanceId: string, effect: Effect): Answer {
  note(drive, instanceId, effect);
  const key = `${instanceId} ${effect.block}`;
  const nth = drive.calls.get(key) ?? 0;
  drive.calls.set(key, nth + 1);
  const answers = drive.world.answers[effect.block] ?? [];
  return answers[Math.min(nth, answers.length - 1)] ?? { kind: 'ok', takeMs: 1, output: null };
}

function note(
  drive: Drive,
  instanceId: string,
  { at, handler, block, attempt, iteration, params }: Effect,
): void {
  const known = drive.effects.get(instanceId) ?? [];
  known.push({
    at,
    handler,
    block,
    attempt,
    iteration,
    params: withoutMessages(withoutIds(params, instanceId)),
  });
  drive.effects.set(instanceId, known);
}

/** Workers take every task at the instant at which it appears. */
async function pollTasks(drive: Drive): Promise<void> {
  const { engine } = drive;
  for (
    let task = await engine.poll('worker_act', WORKER);
    task !== null;
    task = await engine.poll('worker_act', WORKER)
  ) {
    const { instanceId, blockId: block, attempt, params, createdAt } = task;
    const [, iteration = ''] = /^[^:]*:[^:]*:[^:]*:(.*)$/.exec(task.idempotencyKey) ?? [];
    const effect: Effect = {
      at: createdAt,
      handler: 'worker_act',
      block,
      attempt,
      iteration: iteration === '-' ? '' : iteration,
      params,
    };
    const answer = begin(drive, instanceId, effect);
    if (answer.kind === 'silent') continue;
    engine.time.at(createdAt + answer.takeMs, reporter(engine, task, answer));
  }
}

/**
 * A hint for every due instant. The loop of a resident process may look up to 100 ms later after it found nothing to do;
 * the reference knows no such lateness.
 */
async function hintAtDueTime({ engine, hinted }: Drive): Promise<void> {
  const { dueAt } = await engine.store.nextWake();
  if (dueAt === null || dueAt <= engine.time.now || hinted.has(dueAt)) return;
  hinted.add(dueAt);
  engine.time.at(dueAt, () => {
    void engine.time.track(hintAll(engine));
  });
}

async function hintAll(engine: TestEngine): Promise<void> {
  const every = { namespace: null, sequenceId: null, states: [], metadata: [], limit: 100, offset: 0 };
  const instances = await engine.store.listInstances({ tenantId: TENANT, ...every });
  // Not awaited: what a hint begins may take time of its own.
  for (const { id } of instances) void engine.live?.engine.runner.nudge({ tenantId: TENANT, instanceId: id });
}

function reporter(engine: TestEngine, task: WorkerTask, answer: Answer): () => void {
  const { id: taskId, claimEpoch } = task;
  const outcome = outcomeOf(answer);
  const told = outcome.ok
    ? { ok: true as const, output: outcome.output }
    : { ok: false as const, ...outcome.failure };
  return () => {
    const deps = engine.live?.useCases;
    if (deps === undefined) throw new Error('no process is alive');
    const claim = { taskId, workerId: WORKER, claimEpoch };
    // A report to a task that was closed meanwhile is refused, which is what should happen to it.
    void reportTask(deps, CALLER, claim, { outcome: told, logs: [] });
  };
}

async function happen(engine: TestEngine, instanceId: string, happening: Happening): Promise<void> {
  switch (happening.kind) {
    case 'signal': {
      const { type } = happening;
      const name = typeof type === 'string' ? type : `custom:${type.custom}`;
      await engine.signal(instanceId, name, happening.payload);
      return;
    }
    case 'set_state':
      await engine.operate(instanceId, { kind: 'set_state', state: happening.state, nextFireAt: null });
      return;
    case 'retry':
      await engine.operate(instanceId, { kind: 'retry' });
      return;
    case 'patch_context': {
      const process = engine.live;
      if (process === undefined) throw new Error('no process is alive');
      const patch = { instanceId, sections: { data: happening.data }, mode: happening.mode };
      await patchContext(process.useCases, CALLER, patch);
    }
  }
}
