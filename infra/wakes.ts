import type { Parts } from './parts.ts';
import { trustOfSchedules } from './trust.ts';

/** How functions keep the next wake outside the database (RULINGS A33); empty in steady mode. */
export interface Wakes {
  /** For the sweep, which knows its own address from each call. */
  readonly ofSweep: () => WakeAccess;
  readonly ofOthers: (sweepArn: $util.Output<string>) => WakeAccess;
  /** Lets the schedules call the sweep. */
  readonly allow: (sweepArn: $util.Output<string>) => void;
}

export interface WakeAccess {
  readonly environment: Readonly<Record<string, $util.Input<string>>>;
  readonly permissions: readonly sst.aws.FunctionPermissionArgs[];
}

const NOTHING: WakeAccess = { environment: {}, permissions: [] };

const TO_SCHEDULES = {
  test: 'StringEquals',
  variable: 'iam:PassedToService',
  values: ['scheduler.amazonaws.com'],
};

export function createWakes({ name, args, opts }: Parts): Wakes {
  if (args.mode !== 'economy') {
    return { ofSweep: () => NOTHING, ofOthers: () => NOTHING, allow: () => undefined };
  }
  const group = new aws.scheduler.ScheduleGroup(`${name}Wakes`, {}, opts);
  const role = new aws.iam.Role(`${name}WakeRole`, { assumeRolePolicy: trustOfSchedules(group.arn) }, opts);
  const schedules = group.arn.apply((arn) => `${arn.replace(':schedule-group/', ':schedule/')}/*`);
  const access: WakeAccess = {
    environment: { STEPWELL_WAKE_GROUP: group.name, STEPWELL_WAKE_ROLE_ARN: role.arn },
    permissions: [
      { actions: ['scheduler:CreateSchedule'], resources: [schedules] },
      { actions: ['iam:PassRole'], resources: [role.arn], conditions: [TO_SCHEDULES] },
    ],
  };
  return {
    ofSweep: () => access,
    ofOthers: (sweepArn) => ({
      ...access,
      environment: { ...access.environment, STEPWELL_WAKE_TARGET_ARN: sweepArn },
    }),
    allow: (sweepArn) => {
      const statement = { Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: sweepArn };
      new aws.iam.RolePolicy(
        `${name}WakePolicy`,
        { role: role.name, policy: $util.jsonStringify({ Version: '2012-10-17', Statement: [statement] }) },
        opts,
      );
    },
  };
}
