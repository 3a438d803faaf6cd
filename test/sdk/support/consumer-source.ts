/** What a project may write, and what its compiler must refuse. */
export const consumerSource = `
import * as z from 'zod';
import { defineHandler, type HandlerContext, sequence, StepError } from 'stepwell';
import { ApiError, createClient, type Instance } from 'stepwell/client';
import { createTestEngine } from 'stepwell/testing';
import { createWorker, type WorkerContext } from 'stepwell/worker';

const charge = defineHandler(
  'charge',
  { input: z.object({ cents: z.number() }), output: z.object({ receipt: z.string() }) },
  ({ cents }, ctx: HandlerContext) => ({ receipt: cents.toFixed(2) + ctx.idempotencyKey }),
);
defineHandler('charge', { output: z.object({ receipt: z.string() }) },
  // @ts-expect-error: the result is not what the schema says
  () => ({ receipt: 1 }));

const hello = sequence({
  name: 'hello',
  blocks: [
    { type: 'step', id: 'greet', handler: 'charge', params: { cents: 1 }, retry: { max_attempts: 2, initial_backoff: 10, max_backoff: 10 } },
    { type: 'router', id: 'way', routes: [{ condition: 'data.a', blocks: [{ type: 'step', id: 'b', handler: 'noop' }] }] },
  ],
});
// @ts-expect-error: there is no such block
sequence({ name: 'x', blocks: [{ type: 'stap', id: 'a', handler: 'noop' }] });
// @ts-expect-error: nor such a member where there is one block
sequence({ name: 'x', blocks: [{ type: 'step', id: 'a', handler: 5 }] });

export async function use(): Promise<Instance['state']> {
  const client = createClient({ url: 'http://127.0.0.1:8080' });
  const { id } = await client.instances.start({ sequence_name: 'hello', idempotency_key: 'a' });
  // @ts-expect-error: neither a name nor an id
  await client.instances.start({ context: {} });
  const instance = await client.instances.get(id);
  // @ts-expect-error: there is no such member
  instance.nothing;
  await client.instances.signal(id, { type: 'cancel' });
  await client.triggers.create({ slug: 's', sequence_name: 'hello' });
  const work = (input: unknown, ctx: WorkerContext) => [input, ctx.taskId, new StepError('a')];
  const worker = createWorker({ client, handlers: [charge], functions: { work } });
  const left: number = await worker.stop({ graceMs: 1 });
  const engine = createTestEngine({ handlers: [charge], http: () => new Response('{}') });
  const run = await engine.run(hello, { left });
  await run.assertOutput('greet', { receipt: '' });
  return new ApiError('a', { status: 1, code: 'b' }).isPassing ? 'failed' : instance.state;
}
`;
