import { describe, expect, it } from 'vitest';
import type { FaultKind, FaultPlan } from './support/fault-store.ts';
import { noFaults } from './support/fault-store.ts';
import { runScenario } from './support/run-scenario.ts';
import { scenariosOfLimits } from './support/scenarios-limits.ts';
import { SINGLE_FAULTS } from './support/single-fault.ts';
import { TENANT, type TestEngine } from './support/test-engine.ts';

const limited = scenariosOfLimits.find(({ name }) => name === 'limited steps');
if (limited === undefined) throw new Error('there is no such scenario');
/** One each, and two more tries of the flaky one. */
const ATTEMPTS = 7;

async function taken(world: TestEngine): Promise<{ readonly tokens: number; readonly resources: number }> {
  const [pool] = await world.store.listPools(TENANT, 1);
  const [resource] = (await world.store.listResources(TENANT, pool?.id ?? '')) ?? [];
  const tokens = (await world.store.getRateLimit(TENANT, 'count'))?.currentCount ?? -1;
  return { tokens, resources: resource?.dailyUsage ?? -1 };
}

describe('what limits gave, after a fault at every call of the store (RULINGS A32)', () => {
  it('an attempt takes one token and one resource, whatever crashes, freezes or is lost', async () => {
    const calm = await runScenario(limited, () => noFaults);
    expect(await taken(calm.world)).toEqual({ tokens: ATTEMPTS, resources: 1 });
    const calls = calm.world.calls.calls.length;
    for (let at = 0; at < calls; at += 1) {
      for (const kind of SINGLE_FAULTS) {
        const { world, end } = await runScenario(limited, (live) => planOf(live, at, kind));
        const where = `${kind} at call ${at}`;
        expect({ where, end }).toEqual({ where, end: calm.end });
        expect({ where, ...(await taken(world)) }).toEqual({ where, tokens: ATTEMPTS, resources: 1 });
      }
    }
  });
});

function planOf(world: () => TestEngine, at: number, kind: FaultKind): FaultPlan {
  const replace = (): void => {
    const live = world();
    live.time.at(live.time.now, () => {
      live.boot();
    });
  };
  return {
    decide: (call) => {
      if (call.index !== at) return null;
      if (kind.startsWith('freeze')) replace();
      return { kind, forMs: 150_000 };
    },
    onCrash: replace,
  };
}
