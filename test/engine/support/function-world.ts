import type { FunctionEngine } from '../../../src/engine/function-engine.ts';
import { type HintOutcome, runHints, runSweep } from '../../../src/engine/invocation.ts';
import { createRequestRunner } from '../../../src/engine/request-runner.ts';
import type { Hint } from '../../../src/ports/hints.ts';
import type { HintQueue } from '../../../src/ports/queue.ts';
import { type EngineProcess, standardSettings } from './engine-process.ts';
import type { HintFate } from './hint-faults.ts';
import { TestEngine, type TestEngineOptions } from './test-engine.ts';

/** The host ends each invocation after so long, whatever it is at. */
export const LIMIT_MS = 60_000;
export const CRON_MS = 60_000;
/** A message whose function gave no answer comes again after six time limits, as the queue's makers advise. */
const VISIBILITY_MS = 6 * LIMIT_MS;
const SOON_MS = 1_000;
const DELIVERIES_MAX = 5;

/**
 * A world of functions: each message and each sweep gets a process of its own, which is gone after its answer. Only the
 * API, which calls no handler, is there for longer.
 */
export class FunctionWorld extends TestEngine {
  private readonly fate: HintFate;
  private readonly queue: HintQueue;
  private cron = false;
  private sent = 0;

  constructor(options: TestEngineOptions, fate: HintFate = () => [0]) {
    super({ ...options, hints: () => this.queue });
    this.fate = fate;
    this.queue = { send: (hints) => this.enqueue(hints), settled: () => Promise.resolve() };
  }

  /** The process of the API, and the cron with the first one. */
  override boot(): EngineProcess {
    const process = this.idle({ settings: { maxTurns: 0 } });
    const runner = createRequestRunner(this.engineOf(process));
    const api = { ...process, useCases: { ...process.useCases, runner } };
    this.processes.splice(this.processes.indexOf(process), 1, api);
    if (!this.cron) this.tick();
    this.cron = true;
    return api;
  }

  private engineOf({ engine, name }: EngineProcess): FunctionEngine {
    const settings = { ...standardSettings, ...this.settings, leaseOwner: name, leaseMs: null, maxTurns: 10 };
    return { deps: engine.deps, queue: this.queue, settings };
  }

  private enqueue(hints: readonly Hint[]): void {
    for (const hint of hints) {
      const nth = this.sent;
      this.sent += 1;
      for (const delayMs of this.fate(hint, nth)) this.deliverAt(hint, hint.delayMs + delayMs, 0);
    }
  }

  private deliverAt(hint: Hint, delayMs: number, deliveries: number): void {
    if (deliveries < DELIVERIES_MAX)
      this.time.at(this.time.now + delayMs, () => this.deliver(hint, deliveries + 1));
  }

  private deliver(hint: Hint, deliveries: number): void {
    let answered = false;
    this.invoke(async (engine, remainingTimeMs) => {
      const [outcome] = await runHints(engine, [hint], remainingTimeMs);
      answered = true;
      if (outcome !== 'done') this.deliverAt(hint, delayOf(outcome), deliveries);
    });
    this.time.at(this.time.now + VISIBILITY_MS, () => {
      if (!answered) this.deliverAt(hint, 0, deliveries);
    });
  }

  /** The cron trigger, again and again. */
  protected tick(): void {
    this.invoke(async (engine, remainingTimeMs) => {
      await runSweep(engine, remainingTimeMs);
    });
    this.time.at(this.time.now + CRON_MS, () => this.tick());
  }

  /** One invocation in a process of its own. */
  protected invoke(work: (engine: FunctionEngine, remainingTimeMs: () => number) => Promise<void>): void {
    const process = this.idle({ serves: false });
    const endsAt = this.time.now + LIMIT_MS;
    this.time.at(endsAt, () => process.crash());
    const over = (): void => process.crash();
    work(this.engineOf(process), () => endsAt - this.time.now).then(over, over);
  }
}

function delayOf(outcome: HintOutcome | undefined): number {
  return outcome === 'unstarted' ? 0 : SOON_MS;
}
