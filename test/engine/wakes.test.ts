import { describe, expect, it } from 'vitest';
import type { StepOutcome } from '../../src/ports/step-handler.ts';
import { putRateLimit } from '../../src/engine/limits.ts';
import { wakeInstance } from '../../src/engine/wake-instance.ts';
import type { Timer } from '../../src/core/run/wake.ts';
import { parallel, sleepStep, step } from './support/blocks.ts';
import type { FaultKind } from './support/fault-store.ts';
import { FunctionWorld } from './support/function-world.ts';
import { checkEffects } from './support/single-fault.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const HOUR = 3_600_000;
const busy: StepOutcome = { ok: false, failure: { message: 'busy', retryable: true } };
const scripts = {
  quick: {},
  slow: { takesMs: 20_000 },
  flaky: { outcome: (_: unknown, nth: number): StepOutcome => (nth === 0 ? busy : { ok: true, output: 1 }) },
};
const caller = { tenantId: TENANT, isAdmin: true };

async function wake(world: TestEngine, id: string): Promise<readonly Timer[]> {
  const process = world.live;
  if (process === undefined) throw new Error('no process is alive');
  const woken = await world.answered(wakeInstance(process.useCases, caller, id, null), 20_000);
  if (!woken.ok) throw new Error(woken.error.message);
  return woken.value;
}

const hosts = [
  ['a process that lives on', () => new TestEngine({ scripts, settings: { sweepMs: HOUR } })],
  ['functions', () => new FunctionWorld({ scripts })],
] as const;

describe.each(hosts)('a wake on %s [DASHBOARD A9]', (_, make) => {
  it('reaches the turn that holds the run, which takes nothing back and repeats nothing', async () => {
    const world = make();
    world.boot();
    const nap = [sleepStep('nap', HOUR), step('after', 'quick')];
    const id = await world.start(await world.publish([parallel('both', [step('long', 'slow')], nap)]));
    await world.time.pass(5_000);
    const { epoch } = await world.view(id);
    expect(await wake(world, id)).toMatchObject([{ reason: 'sleep', blockId: 'nap' }]);
    await world.time.pass(1_000);
    expect(world.ledger.of('after')).toHaveLength(1);
    expect(await world.view(id)).toMatchObject({ state: 'running', epoch });
    await world.untilEnded(id, 30_000);
    expect(world.ledger.entries.map(({ blockId }) => blockId).toSorted()).toEqual(['after', 'long']);
    checkEffects(world.ledger.entries, 0);
  });

  it('ends a back-off: the next try is made at once, and it counts', async () => {
    const world = make();
    world.boot();
    const retry = { max_attempts: 2, initial_backoff: HOUR, max_backoff: HOUR };
    const id = await world.start(await world.publish([step('a', 'flaky', { retry })]));
    await world.time.pass(5_000);
    expect(await wake(world, id)).toMatchObject([{ reason: 'retry' }]);
    expect((await world.untilEnded(id, 5_000)).state).toBe('completed');
    expect(world.ledger.of('a').map(({ attempt }) => attempt)).toEqual([0, 1]);
  });

  it('two at once end one timer: the next one stays', async () => {
    const world = make();
    world.boot();
    const waits = (id: string) => step(id, 'quick', { delay: { duration: HOUR } });
    const id = await world.start(await world.publish([waits('a'), waits('b')]));
    await world.time.pass(5_000);
    await Promise.all([wake(world, id), wake(world, id)]);
    await world.time.pass(5_000);
    expect(world.ledger.entries.map(({ blockId }) => blockId)).toEqual(['a']);
    expect(await world.view(id)).toMatchObject({ state: 'scheduled' });
  });

  it('a wider rate limit lets those go on that wait for it, without waiting for a sweep [RATE-3]', async () => {
    const world = make();
    const process = world.boot();
    const limit = (maxCount: number) =>
      putRateLimit(process.useCases, caller, {
        tenantId: TENANT,
        resourceKey: 'mail',
        maxCount,
        windowMs: HOUR,
      });
    await world.answered(limit(0));
    const sequence = await world.publish([step('a', 'quick', { rate_limit_key: 'mail' })]);
    const ids = [await world.start(sequence), await world.start(sequence)];
    await world.time.pass(5_000);
    await world.answered(limit(1));
    await world.time.pass(2_000);
    expect(world.ledger.entries).toHaveLength(1);
    await world.answered(limit(2));
    for (const id of ids) await world.untilEnded(id, 2_000);
  });

  it('a slot that an operator frees is given on at once, not by the sweep [CONC-3]', async () => {
    const world = make();
    world.boot();
    const sequence = await world.publish([sleepStep('nap', HOUR), step('a', 'quick')]);
    const key = { concurrencyKey: 'depot' };
    const [first, second] = [await world.start(sequence, key), await world.start(sequence, key)];
    await world.time.pass(5_000);
    const states = async () => [(await world.view(first)).state, (await world.view(second)).state];
    expect(await states()).toEqual(['running', 'scheduled']);
    const cancel = { kind: 'set_state', state: 'cancelled', nextFireAt: null } as const;
    await world.answered(world.operate(first, cancel));
    await world.time.pass(500);
    expect(await states()).toEqual(['cancelled', 'running']);
  });
});

describe('a wake that meets a fault', () => {
  const kinds: readonly FaultKind[] = ['fail-before', 'fail-after', 'crash-before', 'crash-after'];

  it('at any store call ends the timer, or leaves it as it was for the next call, and repeats no step', async () => {
    let tried = 0;
    for (const kind of kinds) {
      for (let at = 0; ; at += 1) {
        const world = new TestEngine({ scripts });
        world.boot();
        const blocks = [step('a', 'quick', { delay: { duration: HOUR } }), step('b', 'quick')];
        const id = await world.start(await world.publish(blocks));
        await world.time.pass(1_000);
        const from = world.calls.calls.length;
        let met = false;
        world.faults = {
          decide: ({ index }) => {
            if (index !== from + at) return null;
            met = true;
            return { kind };
          },
          onCrash: () => void world.boot(),
        };
        const first = world.live;
        if (first !== undefined) {
          const call = wakeInstance(first.useCases, caller, id, null).catch(() => null);
          await world.answered(call, 5_000).catch(() => null);
        }
        // Whoever gets no answer asks again.
        await world.time.pass(1_000);
        await wake(world, id).catch(() => null);
        expect((await world.untilEnded(id, HOUR / 2)).state).toBe('completed');
        checkEffects(world.ledger.entries, kind.startsWith('crash') ? 1 : 0);
        tried += 1;
        if (!met) break;
      }
    }
    expect(tried).toBeGreaterThan(20);
  });
});
