import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { migrateInstance } from '../../src/engine/migrate-instance.ts';
import type { StepOutcome } from '../../src/ports/step-handler.ts';
import { parallel, sleepStep, step } from './support/blocks.ts';
import { FunctionWorld } from './support/function-world.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const SLOW_MS = 20_000;
const HOUR = 3_600_000;
const busy: StepOutcome = { ok: false, failure: { message: 'busy', retryable: true } };
const scripts = {
  slow: { takesMs: SLOW_MS },
  quick: {},
  flaky: { outcome: (_: unknown, nth: number): StepOutcome => (nth < 1 ? busy : { ok: true, output: 1 }) },
};
const hosts = [
  ['a process that lives on', () => new TestEngine({ scripts })],
  ['functions', () => new FunctionWorld({ scripts })],
] as const;

/** What a run waits for before its slow step, and how each of the waits is ended. */
interface Wait {
  readonly blocks: Json[];
  readonly end?: (world: TestEngine, ids: readonly string[]) => Promise<void>;
}

const answer = async (world: TestEngine, ids: readonly string[]): Promise<void> => {
  for (const id of ids) await world.signal(id, 'custom:human_input:ask', { value: 'yes' });
};
const report = async (world: TestEngine): Promise<void> => {
  for (let task = await world.poll('packing'); task !== null; task = await world.poll('packing')) {
    await world.report(task, { ok: true, output: null });
  }
};
const gate = (members = {}): Json => step('ask', 'quick', { wait_for_input: { prompt: 'Go?', ...members } });

const waits: Readonly<Record<string, Wait>> = {
  'the task of a worker': { blocks: [step('w', 'packing')], end: report },
  'a task beside a delay': {
    blocks: [
      parallel(
        'p',
        [step('w', 'packing'), step('s', 'slow')],
        [step('d', 'quick', { delay: { duration: HOUR } })],
      ),
    ],
    end: report,
  },
  'an answer to a gate': { blocks: [gate()], end: answer },
  'the end of a gate': { blocks: [gate({ timeout: 9_000, escalation_handler: 'quick' })] },
  'a delay': { blocks: [step('d', 'quick', { delay: { duration: 9_000 } })] },
  'a back-off': {
    blocks: [step('f', 'flaky', { retry: { max_attempts: 5, initial_backoff: 9_000, max_backoff: 9_000 } })],
  },
  'a resume': {
    blocks: [gate()],
    end: async (world, ids) => {
      await answer(world, ids);
      for (const id of ids) await world.signal(id, 'pause');
      await world.time.pass(500);
      for (const id of ids) await world.signal(id, 'resume');
    },
  },
};

describe.each(hosts)('slots of a concurrency key on %s', (_, make) => {
  it.each(Object.entries(waits))('are asked for again after %s [CONC-1] [CONC-3]', async (_name, wait) => {
    const world = make();
    world.boot();
    await world.time.pass(1_000);
    const sequence = await world.publish([...wait.blocks, step('a', 'slow')]);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      ids.push(await world.start(sequence, { concurrencyKey: 'depot' }));
      await world.time.pass(2_000);
    }
    await wait.end?.(world, ids);
    expect(await mostRunning(world, ids, 120)).toBe(1);
    expect(world.ledger.of('a').length + world.ledger.of('s').length).toBe(3);
  });

  it('are asked for when a migration lets a run go on that waited [CONC-1] [OP-14]', async () => {
    const world = make();
    const { useCases } = world.boot();
    const waiting = await world.start(await world.publish([gate()]), { concurrencyKey: 'depot' });
    await world.time.pass(2_000);
    const holder = await world.start(await world.publish([step('h', 'slow')]), { concurrencyKey: 'depot' });
    await world.time.pass(1_000);
    const targetSequenceId = await world.publish([step('new', 'slow')]);
    const caller = { tenantId: TENANT, isAdmin: true };
    const moved = await world.answered(
      migrateInstance(useCases, caller, { instanceId: waiting, targetSequenceId }),
    );
    expect(moved.ok).toBe(true);
    expect(await mostRunning(world, [waiting, holder], 60)).toBe(1);
    expect(world.ledger.of('new')).toHaveLength(1);
  });

  it('stay with a sleep that is parked (RULINGS B6) [CONC-1]', async () => {
    const world = make();
    world.boot();
    const sequence = await world.publish([sleepStep('nap', 15_000), step('a', 'quick')]);
    const ids = [];
    for (let n = 0; n < 2; n += 1) ids.push(await world.start(sequence, { concurrencyKey: 'depot' }));
    expect(await mostRunning(world, ids, 60)).toBe(1);
    expect(world.ledger.of('a')).toHaveLength(2);
  });
});

/** Looks every half second, and answers how many ran at once at the most. */
async function mostRunning(world: TestEngine, ids: readonly string[], seconds: number): Promise<number> {
  let most = 0;
  for (let look = 0; look < 2 * seconds; look += 1) {
    const views = await Promise.all(ids.map((id) => world.view(id)));
    most = Math.max(most, views.filter(({ state }) => state === 'running').length);
    await world.time.pass(500);
  }
  return most;
}
