import { settings, shared } from './functions.ts';

/**
 * Everything that time drives, each minute. A tick that failed is not worth much: the next one does the same, so it is
 * repeated once and only while it is young, or an outage would end in a burst of old ticks (reliability.md 5.1).
 */
new sst.aws.CronV2('StepwellSweep', {
  schedule: 'rate(1 minute)',
  retries: 1,
  function: {
    ...shared,
    handler: 'functions/aws/sweep.handler',
    ...(settings.reserved === null ? {} : { concurrency: { reserved: settings.reserved.sweep } }),
  },
  transform: {
    schedule: (schedule) => {
      schedule.target = $util.output(schedule.target).apply((target) => ({
        ...target,
        retryPolicy: { maximumRetryAttempts: 1, maximumEventAgeInSeconds: 60 },
      }));
    },
  },
});
