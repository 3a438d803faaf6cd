import type { Parts } from './parts.ts';
import { defaultGroupArn, trustOfSchedules } from './trust.ts';

/** How often the sweep comes at least, in minutes. In economy mode wakes bring it, and this repairs a lost one. */
export const sweepMinutes = ({ args }: Parts): number => (args.mode === 'economy' ? 6 * 60 : 1);

/** What is done about a sweep that could not be called, or that failed. */
export interface Patience {
  /** Further tries to hand a tick to the function. */
  readonly tickRetries: number;
  /** Further tries of an invocation that failed: the first a minute later, the second two minutes after that. */
  readonly retries: number;
  /** How long a tick that finds no room waits for some, in seconds. */
  readonly ageSeconds: number;
}

/** An outage must not end in a burst of old ticks: the next one does the same (reliability.md 5.1). */
const STEADY: Patience = { tickRetries: 1, retries: 0, ageSeconds: 60 };
/** Nobody comes within the next minute: a wake that is given up leaves what is due to the sweep six hours later. */
const ECONOMY: Patience = { tickRetries: 2, retries: 2, ageSeconds: 3600 };

export const patienceOf = ({ args }: Parts): Patience => (args.mode === 'economy' ? ECONOMY : STEADY);

/** Everything that time drives. */
export function createSweepSchedule(parts: Parts, sweepArn: $util.Output<string>): sst.aws.CronV2 {
  const minutes = sweepMinutes(parts);
  const { tickRetries, ageSeconds } = patienceOf(parts);
  return new sst.aws.CronV2(
    `${parts.name}Tick`,
    {
      schedule: minutes === 1 ? 'rate(1 minute)' : `rate(${minutes} minutes)`,
      retries: tickRetries,
      function: sweepArn.apply((arn) => `arn:${arn.slice('arn:'.length)}` as const),
      transform: {
        role: (role) => {
          role.assumeRolePolicy = trustOfSchedules(defaultGroupArn());
        },
        schedule: (schedule) => {
          schedule.target = $util.output(schedule.target).apply((target) => ({
            ...target,
            retryPolicy: { maximumRetryAttempts: tickRetries, maximumEventAgeInSeconds: ageSeconds },
          }));
        },
      },
    },
    parts.opts,
  );
}
