import { describe, expect, it } from 'vitest';
import { parallel, step, steps } from './support/blocks.ts';
import { faultAt } from './support/fault-plans.ts';
import { noFaults } from './support/fault-store.ts';
import { RECOVERY_MS, checkFunctionFault, onFunctions } from './support/function-faults.ts';
import { FunctionWorld, LIMIT_MS } from './support/function-world.ts';
import { hintFates } from './support/hint-faults.ts';
import { runScenario } from './support/run-scenario.ts';
import { scenarios } from './support/scenarios.ts';
import { checkEffects, checkEnd, faultless, faultsAt } from './support/single-fault.ts';
import { TENANT } from './support/test-engine.ts';

const named = scenarios.map((scenario) => [scenario.name, scenario] as const);
describe('a function host', () => {
  it.each(named)('%s: ends as in a process that lives on', async (_, scenario) => {
    const expected = await faultless(scenario);
    const run = await runScenario(scenario, () => noFaults, {}, onFunctions());
    expect(run.end).toEqual(expected.end);
    checkEffects(run.calls, 0);
    expect(run.tookMs).toBeLessThanOrEqual(expected.tookMs + 1_000);
  });

  it.each(named)('%s: ends although every message is lost', async (_, scenario) => {
    const expected = await faultless(scenario);
    const run = await runScenario(scenario, () => noFaults, {}, onFunctions(hintFates.dropped));
    checkEnd(scenario, run.end, expected.end);
    checkEffects(run.calls, 0);
  });

  it.each(named)('%s: doubles nothing although each message comes one to five times', async (_, scenario) => {
    const expected = await faultless(scenario);
    const run = await runScenario(scenario, () => noFaults, {}, onFunctions(hintFates.repeated));
    expect(run.end).toEqual(expected.end);
    checkEffects(run.calls, 0);
  });

  it.each(named)('%s: one fault at any store call leaves the end as it is', async (_, scenario) => {
    const expected = await runScenario(scenario, () => noFaults, {}, onFunctions());
    const points = expected.world.calls.calls.length;
    expect(points).toBeGreaterThan(5);
    let tried = 0;
    for (let at = 0; at < points; at += 1) {
      for (const kind of faultsAt(at, 3)) {
        await checkFunctionFault(scenario, at, kind, expected);
        tried += 1;
      }
    }
    console.log(`${scenario.name} on functions: ${points} calls, ${tried} faults, all held`);
  });

  it('a run of forty steps goes through as many invocations as it takes, each step once', async () => {
    const world = new FunctionWorld({ scripts: { slow: { takesMs: 20_000 } } });
    world.boot();
    const blocks = steps('s', 40, 'slow').map((one) => ({ ...one, timeout: 30_000 }));
    const id = await world.start(await world.publish(blocks));
    expect((await world.untilEnded(id, 2_000_000)).state).toBe('completed');
    expect(world.ledger.entries).toHaveLength(40);
    checkEffects(world.ledger.entries, 0);
  });

  it('B7: many requests at once do not wear a run out whose next step no request may call', async () => {
    const world = new FunctionWorld({ scripts: { quick: {} } }, () => [30_000]);
    const api = world.boot();
    const branches = steps('w', 50, 'packing').map((one) => [one]);
    const id = await world.start(await world.publish([parallel('all', ...branches), step('after', 'quick')]));
    await world.time.pass(LIMIT_MS);
    for (let task = await world.poll('packing'); task !== null; task = await world.poll('packing')) {
      await world.report(task, { ok: true, output: null }, false);
    }
    const target = { tenantId: TENANT, instanceId: id };
    for (let request = 0; request < 100; request += 1) {
      await world.answered(api.useCases.runner.nudge(target));
    }
    expect((await world.untilEnded(id, 200_000)).state).toBe('completed');
  });

  it('a run that had no slot is called by a message as soon as one is free, not by the sweep [CONC-3]', async () => {
    const world = new FunctionWorld({ scripts: { slow: { takesMs: 5_000 } } });
    world.boot();
    await world.time.pass(1_000);
    const sequence = await world.publish([step('a', 'slow')]);
    const keyed = { concurrencyKey: 'depot' };
    const ids = [];
    for (let n = 0; n < 4; n += 1) ids.push(await world.start(sequence, keyed));
    for (const id of ids) await world.untilEnded(id, 6_000);
    expect(world.ledger.entries).toHaveLength(4);
  });

  it('CAN-8: a cancel reaches the running handler within 250 ms', async () => {
    const world = new FunctionWorld({ scripts: { slow: { takesMs: 40_000 } } });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'slow'), step('b', 'slow')]));
    await world.time.pass(5000);
    await world.signal(id, 'cancel');
    await world.untilState(id, 'cancelled', 250);
    expect(world.ledger.of('a').map(({ abortedAt }) => abortedAt !== null)).toEqual([true]);
    expect(world.ledger.of('b')).toEqual([]);
  });

  it('A21: a step is not called when a slow commit has used the time of the invocation up', async () => {
    const world = new FunctionWorld({
      scripts: { quick: {} },
      faults: faultAt('commit', 0, { kind: 'slow-before', forMs: LIMIT_MS - 3000 }),
    });
    world.boot();
    const blocks = [step('a', 'quick'), step('b', 'quick', { on_uncertain: 'fail' })];
    const id = await world.start(await world.publish(blocks));
    expect((await world.untilEnded(id, LIMIT_MS)).state).toBe('completed');
    expect(world.ledger.entries.map(({ blockId, redelivery }) => [blockId, redelivery])).toEqual([
      ['a', false],
      ['b', false],
    ]);
  });

  it('an invocation that the host ends in the middle is taken over, and its step delivered again', async () => {
    const world = new FunctionWorld({
      scripts: { slow: { takesMs: 10_000 } },
      faults: faultAt('commit', 0, { kind: 'slow-before', forMs: 2 * LIMIT_MS }),
    });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'slow'), step('b', 'slow')]));
    expect((await world.untilEnded(id, RECOVERY_MS + 3 * LIMIT_MS)).state).toBe('completed');
    expect(world.ledger.of('a').map(({ redelivery }) => redelivery)).toEqual([false, true]);
  });
});
