import { withinTime } from '../../core/within-time.ts';
import { HOST_CALL_MS } from '../../ports/host-call.ts';
import type { Clock } from '../../ports/system.ts';
import type { Waker } from '../../ports/waker.ts';

const MINUTE_MS = 60_000;
/** A schedule for an instant that is over when it arrives never fires. */
const AHEAD_MS = 5_000;
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

/**
 * Wakes by one-off schedules of EventBridge, each named by its minute: whoever wants a wake in a minute that has one is
 * content with it, and nothing is ever cancelled or postponed (RULINGS A33). Region and credentials are those of the AWS
 * environment; the client is loaded with the first wake. Rejects when a schedule could not be made within 4 s, tries included.
 */
export function createScheduleWaker(options: ScheduleWakerOptions): Waker {
  const open = onceLoaded();
  const made = new Set<number>();
  const wakeAt = async (minute: number): Promise<void> => {
    if (made.has(minute)) return;
    await createSchedule(options, await open(), minute);
    forgetOver(made, options.clock.nowMs());
    made.add(minute);
  };
  return {
    guard: (delayMs) => wakeAt(Math.ceil((options.clock.nowMs() + delayMs) / MINUTE_MS)),
    wakeWithin: (delayMs) => wakeAt(minuteBy(options.clock.nowMs(), delayMs)),
  };
}

/** The minute in which the instant lies: a wake looks a minute ahead. What is due sooner waits for the next minute. */
function minuteBy(now: number, delayMs: number): number {
  return Math.max(Math.floor((now + delayMs) / MINUTE_MS), Math.ceil((now + AHEAD_MS) / MINUTE_MS));
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

async function createSchedule(
  { group, targetArn, roleArn, clock }: ScheduleWakerOptions,
  { sdk, client }: OpenClient,
  minute: number,
): Promise<void> {
  const at = new Date(minute * MINUTE_MS).toISOString().slice(0, 19);
  const schedule = new sdk.CreateScheduleCommand({
    Name: `wake-${at.replaceAll(/[^0-9]/g, '').slice(0, 12)}`,
    GroupName: group,
    ScheduleExpression: `at(${at})`,
    ScheduleExpressionTimezone: 'UTC',
    FlexibleTimeWindow: { Mode: 'OFF' },
    ActionAfterCompletion: 'DELETE',
    Target: { Arn: targetArn, RoleArn: roleArn, Input: '{}', RetryPolicy: RETRIES },
  });
  try {
    const controller = new AbortController();
    const sent = client.send(schedule, { abortSignal: controller.signal });
    await withinTime(clock.after, HOST_CALL_MS, sent, () => controller.abort());
  } catch (error) {
    if (!(error instanceof sdk.ConflictException)) throw error;
  }
}
