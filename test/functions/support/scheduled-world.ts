import type { AwsParts, FailedMemory } from '../../../functions/aws/compose.ts';
import { createSweepHandler } from '../../../functions/aws/sweep.ts';
import { readSettings } from '../../../functions/settings.ts';
import {
  minuteBy,
  nameOfMinute,
  type ScheduleWaker,
  wakeAgainAfter,
} from '../../../src/adapters/scheduler/schedule-waker.ts';
import { createWakeGuard, type WakeGuard } from '../../../src/engine/deployment-wakes.ts';
import type { FunctionEngine } from '../../../src/engine/function-engine.ts';
import type { Log, LogFields } from '../../../src/ports/system.ts';
import { FunctionWorld, LIMIT_MS } from '../../engine/support/function-world.ts';
import { type HintFate, hintFates } from '../../engine/support/hint-faults.ts';
import type { TestEngineOptions } from '../../engine/support/test-engine.ts';

const MINUTE_MS = 60_000;
/** The host repeats an invocation that failed so long after it, and then never again. */
const REPEATED_AFTER_MS = [MINUTE_MS, 2 * MINUTE_MS];
const quiet: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const settings = readSettings({
  STEPWELL_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  STEPWELL_QUEUE_URL: 'http://127.0.0.1:1/none',
  STEPWELL_INSECURE: '1',
  STEPWELL_WAKE_GROUP: 'wakes',
  STEPWELL_WAKE_ROLE_ARN: 'arn:aws:iam::000000000000:role/wake',
});

/** A line of the sweep's log. */
export interface Line {
  readonly at: number;
  readonly message: string;
  readonly fields: LogFields;
}

export interface ScheduledWorldOptions extends TestEngineOptions {
  /** All wakes come to one process, which remembers the ones before. */
  readonly isWarm?: boolean;
  /** How far into its minute a schedule is called; default: in its first second. */
  readonly calledLateMs?: number;
  /** What becomes of messages; default: they are lost. */
  readonly fate?: HintFate;
}

/**
 * Functions that lose every message, woken by schedules of one call each, named by their minute as EventBridge has them. The real
 * sweep function handles them, in a process of its own each time.
 */
export class ScheduledWorld extends FunctionWorld {
  /** When a wake came, repetitions by the host included. */
  readonly wakes: number[] = [];
  readonly lines: Line[] = [];
  /** What EventBridge was asked for, in all. */
  asked = 0;
  /** When they come, by their names. */
  readonly schedules = new Map<string, number>();
  /** False plants a fault: nothing is kept before a write. */
  keepsWakes = true;
  private readonly waker: ScheduleWaker;
  private readonly guard: WakeGuard;
  private readonly isWarm: boolean;
  private readonly calledLateMs: number;
  private memory: FailedMemory = forgotten();

  constructor({
    isWarm = false,
    calledLateMs = 0,
    fate = hintFates.dropped,
    ...options
  }: ScheduledWorldOptions) {
    super(options, fate);
    this.isWarm = isWarm;
    this.calledLateMs = calledLateMs;
    this.waker = {
      guard: (delayMs) => this.keepAt(this.minuteAfter(delayMs), {}),
      wakeWithin: (delayMs) => this.keepAt(minuteBy(this.time.now, delayMs) * MINUTE_MS, {}),
      wakeAgain: (pause, failed) => {
        const { name, at } = wakeAgainAfter(pause, this.time.now);
        return this.keepAt(at, { failed_wakes: failed, kept_at_ms: this.time.now }, name);
      },
    };
    this.guard = createWakeGuard({
      waker: this.waker,
      clock: { nowMs: () => this.time.now },
      log: quiet,
      invocationMs: LIMIT_MS,
      leaseMs: null,
      memory: { keptUntilMs: 0 },
    });
  }

  override async start(...args: Parameters<FunctionWorld['start']>): Promise<string> {
    await this.keep();
    return super.start(...args);
  }

  override async signal(...args: Parameters<FunctionWorld['signal']>) {
    await this.keep();
    return super.signal(...args);
  }

  override async report(...args: Parameters<FunctionWorld['report']>): Promise<string> {
    await this.keep();
    return super.report(...args);
  }

  private async keep(): Promise<void> {
    if (this.keepsWakes) await this.guard.keep();
  }

  /** The sweep of every six hours, and any other call of the function. */
  sweep(event: unknown = {}): void {
    this.call(event, this.nextId(), 0);
  }

  protected override tick(): void {
    // There is no cron.
  }

  private minuteAfter(delayMs: number): number {
    return Math.ceil((this.time.now + delayMs) / MINUTE_MS) * MINUTE_MS;
  }

  private keepAt(at: number, event: unknown, name = nameOfMinute(at)): Promise<void> {
    this.asked += 1;
    if (!this.schedules.has(name)) {
      this.schedules.set(name, at);
      this.time.at(at + this.calledLateMs, () => {
        this.schedules.delete(name);
        this.sweep(event);
      });
    }
    return Promise.resolve();
  }

  private call(event: unknown, awsRequestId: string, tries: number): void {
    this.wakes.push(this.time.now);
    let isOver = false;
    const repeat = (): void => {
      const afterMs = REPEATED_AFTER_MS[tries];
      if (isOver || afterMs === undefined) return;
      isOver = true;
      this.time.at(this.time.now + afterMs, () => this.call(event, awsRequestId, tries + 1));
    };
    super.invoke(async (engine, getRemainingTimeInMillis) => {
      const handler = createSweepHandler(() => Promise.resolve(this.partsOf(engine)));
      const context = { invokedFunctionArn: 'none', awsRequestId, getRemainingTimeInMillis };
      try {
        await handler(event, context);
        isOver = true;
      } catch {
        repeat();
      }
    });
    this.time.at(this.time.now + LIMIT_MS, repeat);
  }

  private partsOf(engine: FunctionEngine): AwsParts {
    if (!this.isWarm) this.memory = forgotten();
    const log = this.logLines();
    return {
      engine: { ...engine, deps: { ...engine.deps, log } },
      queue: { ...engine.queue, giveBack: () => Promise.resolve() },
      log,
      watched: log,
      settings,
      version: 'test',
      wakes: { waker: Promise.resolve(this.waker), memory: { keptUntilMs: 0 }, failed: this.memory },
    };
  }

  private logLines(): Log {
    const say = (message: string, fields: LogFields = {}): void => {
      this.lines.push({ at: this.time.now, message, fields });
    };
    return { debug: ignore, info: say, warn: say, error: say };
  }
}

function forgotten(): FailedMemory {
  return { count: 0, doneAtMs: 0, requestIds: [] };
}

function ignore(): void {
  // Nothing is said of a guard that was kept.
}
