import { createLog, systemClock, systemEntropy } from '../src/adapters/system.ts';
import type { Json } from '../src/core/json.ts';
import { parseSequence } from '../src/core/definition/parse-sequence.ts';
import { type Engine, createEngine } from '../src/engine/engine.ts';
import { createHandlerRegistry } from '../src/engine/handlers/registry.ts';
import { noopHandler } from '../src/engine/handlers/noop.ts';
import type { NewInstance } from '../src/ports/store/accept.ts';
import type { Store } from '../src/ports/store/store.ts';
import type { StepHandler } from '../src/ports/step-handler.ts';

const TENANT = 'bench';

/** An effect as cheap as can be: what is measured is the engine, not the handler. */
const effectThat = (onCall: () => void): StepHandler => ({
  name: 'effect',
  kind: 'effect',
  run: () => {
    onCall();
    return { ok: true, output: { ok: true } };
  },
});

export function startBenchEngine(store: Store, onCall: () => void = () => undefined): Engine {
  const handlers = createHandlerRegistry([noopHandler], [effectThat(onCall)]);
  if (!handlers.ok) throw new Error(handlers.error.join(', '));
  const engine = createEngine(
    {
      store,
      handlers: handlers.value,
      clock: systemClock,
      entropy: systemEntropy,
      log: createLog({ level: 'warn', format: 'text' }),
    },
    {
      leaseOwner: 'bench',
      leaseMs: 60_000,
      tickMs: null,
      sweepMs: 1_000,
      batchSize: 256,
      maxTurns: 512,
      maxConcurrentSteps: 1_024,
      maxInstancesPerTenant: 0,
      maxStepsPerTurn: 0,
      maxRecoveries: 3,
      maxContextBytes: 262_144,
      maxOutputBytes: 8 * 1024 * 1024,
      silentTaskMs: 60_000,
      inPlaceWaitMs: 100,
    },
  );
  engine.loop.start();
  return engine;
}

/** What is asked of an engine, be it that of a server or of functions. */
interface Parts {
  readonly deps: Pick<Engine['deps'], 'ids' | 'store'>;
}

/** Publishes a flat sequence of so many effectful steps; answers its id. */
export async function publishFlat(engine: Parts, steps: number): Promise<string> {
  const id = engine.deps.ids.newId();
  const blocks: Json = Array.from({ length: steps }, (_, n) => ({
    type: 'step',
    id: `s${n}`,
    handler: 'effect',
  }));
  const body = {
    id,
    tenant_id: TENANT,
    namespace: 'bench',
    name: `flat-${id}`,
    version: 1,
    created_at: '2027-01-01T00:00:00.000Z',
    blocks,
  };
  const parsed = parseSequence(body);
  if (!parsed.ok) throw new Error(parsed.error.message);
  await engine.deps.store.insertSequence({
    id,
    tenantId: TENANT,
    namespace: 'bench',
    name: body.name,
    version: 1,
    status: 'production',
    deprecated: false,
    definition: { ...body },
    contentHash: id,
  });
  return id;
}

/** Starts one instance, takes the lease with it, and resolves when it has completed. */
export async function runOne(engine: Engine, done: CompletionWatch, sequenceId: string): Promise<void> {
  const instance = newInstance(engine, sequenceId);
  const completed = done.of(instance.id);
  const answer = await engine.deps.store.start({
    instances: [instance],
    onKnownKey: 'first',
    lease: engine.runner.newLease(),
  });
  const claim = answer.status === 'ok' ? answer.started[0]?.claim : null;
  if (claim === null || claim === undefined) throw new Error('the start did not take the lease');
  engine.runner.adopt(claim);
  await completed;
}

export function newInstance(engine: Parts, sequenceId: string): NewInstance {
  return {
    id: engine.deps.ids.newId(),
    runId: engine.deps.ids.newId(),
    tenantId: TENANT,
    namespace: 'bench',
    sequenceId,
    priority: 1,
    timezone: 'UTC',
    metadata: {},
    data: {},
    config: {},
    audit: [],
    nextFireAt: null,
    concurrencyKey: null,
    maxConcurrency: null,
    idempotencyKey: null,
    sessionId: null,
    budget: null,
    dryRun: false,
    dryRunAutoApprove: false,
    originalInput: {},
  };
}

/** Tells when instances complete, from the ends of turns. */
export class CompletionWatch {
  private readonly waiting = new Map<string, () => void>();
  completed = 0;

  constructor(engine: Engine) {
    engine.runner.onTurnEnd((claim, end) => {
      if (end.kind !== 'settled' || end.state !== 'completed') return;
      this.completed += 1;
      this.waiting.get(claim.instanceId)?.();
      this.waiting.delete(claim.instanceId);
    });
  }

  of(instanceId: string): Promise<void> {
    return new Promise((resolve) => this.waiting.set(instanceId, resolve));
  }
}
