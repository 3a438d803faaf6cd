import { createPgDriver } from '../../../src/adapters/postgres/drivers/pg.ts';
import { createPostgresStore } from '../../../src/adapters/postgres/store.ts';
import { createLog, systemClock, systemEntropy } from '../../../src/adapters/system.ts';
import type { Json } from '../../../src/core/json.ts';
import { type Engine, type EngineSettings, createEngine } from '../../../src/engine/engine.ts';
import { noopHandler } from '../../../src/engine/handlers/noop.ts';
import { createHandlerRegistry } from '../../../src/engine/handlers/registry.ts';
import type { StepHandler } from '../../../src/ports/step-handler.ts';
import { newInstance } from '../../support/turn-builder.ts';
import { standardSettings } from './engine-process.ts';

export const REAL_TENANT = 'saltmarsh';

export interface RealEngine extends Engine {
  /** Resolves when no turn runs here any more. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** An engine on a PostgreSQL server, on the machine's clock. Its loop does not run until it is started. */
export function createRealEngine(
  url: string,
  name: string,
  handlers: readonly StepHandler[],
  settings: Partial<EngineSettings> = {},
): RealEngine {
  const store = createPostgresStore(createPgDriver({ connectionString: url, poolSize: 4 }));
  const registry = createHandlerRegistry([noopHandler], handlers);
  if (!registry.ok) throw new Error(registry.error.join('; '));
  const log = createLog({ level: 'silent', format: 'text' });
  const engine = createEngine(
    { store, handlers: registry.value, clock: systemClock, entropy: systemEntropy, log },
    { ...standardSettings, ...settings, leaseOwner: name },
  );
  let waiting: (() => void)[] = [];
  engine.runner.onTurnEnd(() => {
    if (engine.runner.activeTurns > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  });
  return {
    ...engine,
    idle: () =>
      engine.runner.activeTurns === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
    close: () => store.close(),
  };
}

/** Publishes blocks and answers the id. */
export async function publishBlocks(engine: Engine, blocks: Json): Promise<string> {
  const id = engine.deps.ids.newId();
  const body = {
    id,
    tenant_id: REAL_TENANT,
    namespace: 'fulfilment',
    name: `real-${id}`,
    version: 1,
    created_at: '2027-02-01T09:00:00.000Z',
    blocks,
  };
  await engine.deps.store.insertSequence({
    ...{ id, tenantId: REAL_TENANT, namespace: 'fulfilment', name: body.name, version: 1 },
    ...{ status: 'production', deprecated: false, definition: body, contentHash: id },
  });
  return id;
}

/** Starts so many instances without a lease, due now. */
export async function startDue(
  engine: Engine,
  sequenceId: string,
  count: number,
): Promise<readonly string[]> {
  const { ids, store } = engine.deps;
  const instances = Array.from({ length: count }, () =>
    newInstance({ id: ids.newId(), runId: ids.newId(), tenantId: REAL_TENANT, sequenceId }),
  );
  await store.start({ instances, onKnownKey: 'first' });
  return instances.map(({ id }) => id);
}
