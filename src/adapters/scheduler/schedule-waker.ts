import { wakeAtMost } from '../../core/farthest-wake.ts';
import { withinTime } from '../../core/within-time.ts';
import { HOST_CALL_MS } from '../../ports/host-call.ts';
import type { Clock } from '../../ports/system.ts';
import type { Waker } from '../../ports/waker.ts';

const MINUTE_MS = 60_000;
/** A schedule for an instant that is over when it arrives never fires. */
const AHEAD_MS = 5_000;
/** From the first second of the minute before to the last one of an instant's own. */
const EARLY_MAX_MS = 2 * MINUTE_MS;
const CONNECT_TIMEOUT_MS = 1_000;
/** Of one try. */
const REQUEST_TIMEOUT_MS = 1_500;
const TRIES_MAX = 3;
/** A wake that fails is repeated while it is young; the safety sweep makes up for the rest. */
const RETRIES = { MaximumRetryAttempts: 2, MaximumEventAgeInSeconds: 300 };

export interface ScheduleWakerOptions {
  /** Group of one-off schedules. */
  readonly group: string;
  /** The function that a wake calls. */
  readonly targetArn: string;
  /** Lets schedules call it. */
  readonly roleArn: string;
  readonly clock: Pick<Clock, 'nowMs' | 'after'>;
}

export interface ScheduleWaker extends Waker {
  /**
   * A wake whose event says that so many before it have failed. One for each stretch of `fullMs`, and the next stretch is the one that
   * begins next, so that any number of processes that fail, also again and again, keep one.
   *
   * @param pause `fullMs` less `delayMs` is how far into the stretch it comes.
   */
  wakeAgain(pause: { readonly delayMs: number; readonly fullMs: number }, failedCount: number): Promise<void>;
}

/** What the event of a wake says; the events of others say nothing. */
export interface WakeEvent {
  readonly failed_wakes?: number;
  /** When this was written, epoch ms: what has succeeded since makes it void. */
  readonly kept_at_ms?: number;
}

/**
 * Wakes by one-off schedules of EventBridge, each named by its minute: whoever wants a wake in a minute that has one is
 * content with it, and nothing is ever cancelled or postponed (RULINGS A33). Region and credentials are those of the AWS
 * environment; the client is loaded with the first wake. Rejects when a schedule could not be made within 4 s, tries included.
 */
export function createScheduleWaker(options: ScheduleWakerOptions): ScheduleWaker {
  const open = onceLoaded();
  const made = new Set<number>();
  const wakeAt = async (minute: number, event: WakeEvent = {}): Promise<void> => {
    if (made.has(minute)) return;
    const at = minute * MINUTE_MS;
    await createSchedule(options, await open(), { name: nameOfMinute(at), at, event });
    forgetOver(made, options.clock.nowMs());
    made.add(minute);
  };
  return {
    guard: (delayMs) => wakeAt(Math.ceil((options.clock.nowMs() + delayMs) / MINUTE_MS)),
    wakeWithin: (delayMs) => wakeAt(minuteBy(options.clock.nowMs(), delayMs)),
    async wakeAgain(pause, failedCount) {
      const now = options.clock.nowMs();
      const event = { failed_wakes: failedCount, kept_at_ms: now };
      const { name, at } = wakeAgainAfter(pause, now);
      if (name === nameOfMinute(at)) await wakeAt(at / MINUTE_MS, event);
      else await createSchedule(options, await open(), { name, at, event });
    },
  };
}

interface OneWake {
  /** Of the schedule; whoever wants one that there is already is content with it. */
  readonly name: string;
  readonly at: number;
  readonly event: WakeEvent;
}

/** The name of the wake that everybody shares who wants one in this minute. */
export function nameOfMinute(at: number): string {
  return `wake-${digitsOf(at)}`;
}

/** Name and instant of the wake in the next stretch; in a stretch of one minute it is the wake of that minute. */
export function wakeAgainAfter(
  { delayMs, fullMs }: { readonly delayMs: number; readonly fullMs: number },
  now: number,
): Omit<OneWake, 'event'> {
  const minutes = Math.ceil(fullMs / MINUTE_MS);
  const start = (Math.floor((now + AHEAD_MS) / (minutes * MINUTE_MS)) + 1) * minutes * MINUTE_MS;
  const at = Math.floor((start + fullMs - delayMs) / MINUTE_MS) * MINUTE_MS;
  if (minutes === 1) return { name: nameOfMinute(start), at: start };
  return { name: `again-${minutes}-${digitsOf(start)}`, at };
}

/**
 * The minute of the wake for an instant: the one before its own, for AWS calls a schedule anywhere in its minute, and the sweep of the
 * wake then sends a hint that arrives at the instant. Whoever asks for what is nearer has hinted at it, so the wake comes behind it,
 * for a hint that was lost.
 */
export function minuteBy(now: number, delayMs: number): number {
  const at = wakeAtMost(now, now + delayMs);
  const minute =
    delayMs > EARLY_MAX_MS + AHEAD_MS ? Math.floor(at / MINUTE_MS) - 1 : Math.ceil(at / MINUTE_MS);
  return Math.max(minute, Math.ceil((now + AHEAD_MS) / MINUTE_MS));
}

function forgetOver(made: Set<number>, now: number): void {
  for (const minute of made) if (minute * MINUTE_MS <= now) made.delete(minute);
}

async function openClient() {
  const sdk = await import('@aws-sdk/client-scheduler');
  const client = new sdk.SchedulerClient({
    maxAttempts: TRIES_MAX,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // Otherwise the client says so in its log, and goes on waiting.
      throwOnRequestTimeout: true,
    },
  });
  return { sdk, client };
}

type OpenClient = Awaited<ReturnType<typeof openClient>>;

function onceLoaded(): () => Promise<OpenClient> {
  let opened: Promise<OpenClient> | null = null;
  return () => {
    opened ??= openClient();
    return opened;
  };
}

/** As schedules have it. */
function textOf(at: number): string {
  return new Date(at).toISOString().slice(0, 19);
}

/** To the minute. */
function digitsOf(at: number): string {
  return textOf(at)
    .replaceAll(/[^0-9]/g, '')
    .slice(0, 12);
}

async function createSchedule(
  { group, targetArn, roleArn, clock }: ScheduleWakerOptions,
  { sdk, client }: OpenClient,
  { name, at, event }: OneWake,
): Promise<void> {
  const Input = JSON.stringify(event);
  const schedule = new sdk.CreateScheduleCommand({
    Name: name,
    GroupName: group,
    ScheduleExpression: `at(${textOf(at)})`,
    ScheduleExpressionTimezone: 'UTC',
    FlexibleTimeWindow: { Mode: 'OFF' },
    ActionAfterCompletion: 'DELETE',
    Target: { Arn: targetArn, RoleArn: roleArn, Input, RetryPolicy: RETRIES },
  });
  try {
    const controller = new AbortController();
    const sent = client.send(schedule, { abortSignal: controller.signal });
    await withinTime(clock.after, HOST_CALL_MS, sent, () => controller.abort());
  } catch (error) {
    if (!(error instanceof sdk.ConflictException)) throw error;
  }
}
