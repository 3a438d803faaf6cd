import { once } from 'node:events';
import { createServer } from 'node:http';
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

const Schedule = z.object({
  GroupName: z.string(),
  ScheduleExpression: z.string(),
  ActionAfterCompletion: z.literal('DELETE'),
  Target: z.object({ Arn: z.string(), RoleArn: z.string(), Input: z.string() }),
});
export type Schedule = z.infer<typeof Schedule>;

/** What EventBridge Scheduler answers to those who make schedules. Time is the test's: nothing fires by itself. */
export async function startScheduler(): Promise<Scheduler> {
  const schedules = new Map<string, Schedule>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const name = (request.url ?? '').split('/').at(-1) ?? '';
      response.setHeader('content-type', 'application/json');
      if (schedules.has(name)) {
        response.writeHead(409, { 'x-amzn-errortype': 'ConflictException' });
        response.end(JSON.stringify({ Message: `${name} exists` }));
        return;
      }
      schedules.set(name, Schedule.parse(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
      response.end(
        JSON.stringify({ ScheduleArn: `arn:aws:scheduler:us-east-1:000000000000:schedule/g/${name}` }),
      );
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
