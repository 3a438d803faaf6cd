import type { Parts } from './parts.ts';

/** A repeat that comes later than this is not worth much: the next tick does the same (reliability.md 5.1). */
const EVENT_AGE_SECONDS = 60;

/** How often the sweep comes at least, in minutes. In economy mode wakes bring it, and this repairs a lost one. */
export const sweepMinutes = ({ args }: Parts): number => (args.mode === 'economy' ? 6 * 60 : 1);

/** Everything that time drives. An outage must not end in a burst of old ticks, so a failed one is repeated once at most. */
export function createSweepSchedule(parts: Parts, sweepArn: $util.Output<string>): sst.aws.CronV2 {
  const minutes = sweepMinutes(parts);
  return new sst.aws.CronV2(
    `${parts.name}Tick`,
    {
      schedule: minutes === 1 ? 'rate(1 minute)' : `rate(${minutes} minutes)`,
      retries: 1,
      function: sweepArn.apply((arn) => `arn:${arn.slice('arn:'.length)}` as const),
      transform: {
        schedule: (schedule) => {
          schedule.target = $util.output(schedule.target).apply((target) => ({
            ...target,
            retryPolicy: { maximumRetryAttempts: 1, maximumEventAgeInSeconds: EVENT_AGE_SECONDS },
          }));
        },
      },
    },
    parts.opts,
  );
}
