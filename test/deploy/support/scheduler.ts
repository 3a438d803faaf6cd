import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';

/** One-off schedules as they were asked for, by name. */
export interface Scheduler {
  readonly endpoint: string;
  readonly schedules: ReadonlyMap<string, Schedule>;
  /** All go off before their time. They stay, since those who made them count on them until then: an early call ends nothing. */
  fireEarly(call: (schedule: Schedule) => Promise<unknown>): Promise<void>;
  /** All are over: answers how many there were. */
  fireAll(call: (schedule: Schedule) => Promise<unknown>): Promise<number>;
  close(): void;
}

const NAME = /^[0-9A-Za-z_.-]{1,64}$/;
const AT = /^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$/;

/**
 * A schedule that is called once, at the time that it says, and is gone. Whatever has a default is said all the same: an instant would
 * be one of another time zone, and a call that fails would be repeated for a day.
 */
const Schedule = z.strictObject({
  GroupName: z.string().regex(NAME),
  ScheduleExpression: z.string().regex(AT),
  ScheduleExpressionTimezone: z.literal('UTC'),
  FlexibleTimeWindow: z.strictObject({ Mode: z.literal('OFF') }),
  ActionAfterCompletion: z.literal('DELETE'),
  Target: z.strictObject({
    Arn: z.string().startsWith('arn:aws:lambda:'),
    RoleArn: z.string().startsWith('arn:aws:iam:'),
    Input: z.string(),
    RetryPolicy: z.strictObject({
      MaximumRetryAttempts: z.int().min(0).max(5),
      MaximumEventAgeInSeconds: z.int().min(60).max(3600),
    }),
  }),
});
export type Schedule = z.infer<typeof Schedule>;

/** What a client sends along, so that a call whose answer was lost can be sent again. */
const Asked = z.looseObject({ ClientToken: z.string().optional() });

interface Answer {
  readonly status: number;
  readonly error?: 'ConflictException' | 'ValidationException';
  readonly body: object;
}

/**
 * What EventBridge Scheduler answers to those who make schedules. Time is the test's: nothing fires by itself.
 *
 * @param nowMs The clock by which an instant is over: what is made for one would never be called, and is refused.
 */
export async function startScheduler(nowMs: () => number = Date.now): Promise<Scheduler> {
  const schedules = new Map<string, Schedule>();
  const create = (name: string, text: string): Answer => {
    if (schedules.has(name)) return refusal(409, 'ConflictException', `${name} exists`);
    if (!NAME.test(name)) return refusal(400, 'ValidationException', `${name} is no name`);
    const { ClientToken: _, ...asked } = Asked.parse(JSON.parse(text));
    const schedule = Schedule.safeParse(asked);
    if (!schedule.success) return refusal(400, 'ValidationException', z.prettifyError(schedule.error));
    if (instantOf(schedule.data) <= nowMs()) {
      return refusal(400, 'ValidationException', `${schedule.data.ScheduleExpression} is over`);
    }
    schedules.set(name, schedule.data);
    return {
      status: 200,
      body: { ScheduleArn: `arn:aws:scheduler:us-east-1:000000000000:schedule/g/${name}` },
    };
  };
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const { status, error, body } = create((request.url ?? '').split('/').at(-1) ?? '', text);
      const type = error === undefined ? {} : { 'x-amzn-errortype': error };
      response.writeHead(status, { 'content-type': 'application/json', ...type }).end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    schedules,
    async fireEarly(call) {
      for (const schedule of [...schedules.values()]) await call(schedule);
    },
    async fireAll(call) {
      const due = [...schedules.values()];
      schedules.clear();
      for (const schedule of due) await call(schedule);
      return due.length;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** When it is called at the earliest, epoch ms. */
function instantOf({ ScheduleExpression }: Schedule): number {
  return Date.parse(`${AT.exec(ScheduleExpression)?.[1] ?? ''}Z`);
}

function refusal(status: number, error: NonNullable<Answer['error']>, Message: string): Answer {
  return { status, error, body: { Message } };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
