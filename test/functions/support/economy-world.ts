import { createScheduled } from '../../../functions/cloudflare/scheduled.ts';
import { createWakerClass, type WakerClass } from '../../../functions/cloudflare/waker.ts';
import { createObjectWaker, type ObjectWaker } from '../../../src/adapters/cloudflare/object-waker.ts';
import { createWakeGuard, type WakeGuard } from '../../../src/engine/deployment-wakes.ts';
import type { FunctionEngine } from '../../../src/engine/function-engine.ts';
import { FunctionWorld, LIMIT_MS } from '../../engine/support/function-world.ts';
import type { HintFate } from '../../engine/support/hint-faults.ts';
import type { TestEngineOptions } from '../../engine/support/test-engine.ts';

type Invoked = (engine: FunctionEngine, remainingTimeMs: () => number) => Promise<void>;

/** The platform repeats an alarm whose handler did not come to its end, so often, and not where it has left another alarm. */
const ALARM_AGAIN_MS = LIMIT_MS + 2_000;
const ALARM_RETRIES = 6;
/** The platform takes no date behind 2189. */
const LAST_ALARM_MS = Date.UTC(2190, 0, 1);

/**
 * A world of functions without a cron trigger: the real waker, over the alarm and the storage of a Durable Object in virtual
 * time, has to find everything that no message tells of.
 */
export class EconomyWorld extends FunctionWorld {
  /** When the alarm goes off; null: it is not set. */
  alarmAt: number | null = null;
  /** False plants a fault: nothing is kept before a write. */
  keepsWakes = true;
  /** Calls of other invocations to the object, by their path. */
  readonly asked: string[] = [];
  /** When the alarm went off, repetitions by the platform included. */
  readonly alarms: number[] = [];
  private readonly values = new Map<string, unknown>();
  private readonly waker: ObjectWaker;
  private readonly Waker: WakerClass;
  private readonly guard: WakeGuard;

  constructor(options: TestEngineOptions = {}, fate?: HintFate) {
    super(options, fate);
    const clock = { nowMs: () => this.time.now };
    this.Waker = createWakerClass((env) => env['invocation'] as ReturnType<typeof invocation>, clock);
    this.waker = createObjectWaker(
      { idFromName: () => ({}), get: () => ({ fetch: (url) => this.ask(url) }) },
      { after: (delayMs, callback) => this.time.at(this.time.now + delayMs, callback) },
    );
    this.guard = createWakeGuard({
      waker: this.waker,
      clock,
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
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

  /** What each invocation that may write does first. */
  async keep(): Promise<void> {
    if (this.keepsWakes) await this.time.track(this.guard.keep());
  }

  /** Lets the alarm go off. */
  async wake(): Promise<void> {
    await this.time.track(this.waker.wakeWithin(0));
  }

  /** What the rare cron trigger does. */
  safetySweep(): void {
    super.invoke(async (engine, remainingTimeMs) => {
      const opened = { ...invocation(engine, remainingTimeMs), waker: this.waker };
      await createScheduled(() => opened)({}, { STEPWELL_TURNS: unused });
    });
  }

  protected override tick(): void {
    // There is no cron trigger.
  }

  protected override invoke(work: Invoked): void {
    super.invoke(async (engine, remainingTimeMs) => {
      await this.keep();
      await work(engine, remainingTimeMs);
    });
  }

  private ask(url: string): Promise<Response> {
    this.asked.push(new URL(url).pathname);
    return this.object(null).fetch(new Request(url, { method: 'POST' }));
  }

  private object(woken: ReturnType<typeof invocation> | null): InstanceType<WakerClass> {
    const storage = {
      getAlarm: () => Promise.resolve(this.alarmAt),
      setAlarm: (atMs: number) => Promise.resolve(this.setAlarm(atMs)),
      get: (key: string) => Promise.resolve(this.values.get(key)),
      put: (key: string, value: unknown) => Promise.resolve(void this.values.set(key, value)),
    };
    return new this.Waker({ storage }, { STEPWELL_TURNS: unused, invocation: woken });
  }

  private setAlarm(atMs: number): void {
    if (atMs >= LAST_ALARM_MS) throw new TypeError("the alarm's date is refused");
    this.alarmAt = atMs;
    this.time.at(atMs, () => {
      if (this.alarmAt !== atMs) return;
      this.alarmAt = null;
      this.ring();
    });
  }

  private ring(tries = 0): void {
    this.alarms.push(this.time.now);
    let isHandled = false;
    super.invoke(async (engine, remainingTimeMs) => {
      await this.object(invocation(engine, remainingTimeMs)).alarm({ isRetry: tries > 0 });
      isHandled = true;
    });
    this.time.at(this.time.now + ALARM_AGAIN_MS, () => {
      if (!isHandled && tries < ALARM_RETRIES && this.alarmAt === null) this.ring(tries + 1);
    });
  }
}

const unused = { sendBatch: () => Promise.resolve() };

function invocation(engine: FunctionEngine, remainingTimeMs: () => number) {
  const publishing = { tenantId: 'default', drafts: [], deployedAt: 0, outcomes: new Map(), isDone: true };
  return { engine, publishing, remainingTimeMs };
}

function ignore(): void {
  // Nothing is said of a guard that was kept.
}
