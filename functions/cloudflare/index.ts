import { createWorkerHost } from './compose.ts';
import { createFetch } from './fetch.ts';
import type { Project } from '../project.ts';
import { createQueueConsumer } from './queue.ts';
import { createScheduled } from './scheduled.ts';
import { createWakerClass, type WakerClass } from './waker.ts';

/**
 * `stepwell/cloudflare`: one Worker around handlers and sequences of one's own (docs/deploy-cloudflare.md).
 *
 *     import { createCloudflareWorker } from 'stepwell/cloudflare';
 *     import * as handlers from './handlers.ts';
 *     import * as sequences from './sequences.ts';
 *
 *     const { worker, StepwellWaker } = createCloudflareWorker({ handlers, sequences });
 *     export { StepwellWaker };
 *     export default worker;
 */
export function createCloudflareWorker(project: Project = {}): StepwellWorker {
  const open = createWorkerHost(project);
  return {
    worker: {
      fetch: createFetch(open),
      scheduled: createScheduled(open),
      queue: createQueueConsumer(open),
    },
    StepwellWaker: createWakerClass(open),
  };
}

export interface StepwellWorker {
  /** The default export of the Worker's main module. */
  readonly worker: {
    readonly fetch: ReturnType<typeof createFetch>;
    readonly scheduled: ReturnType<typeof createScheduled>;
    readonly queue: ReturnType<typeof createQueueConsumer>;
  };
  /** The class of the Durable Object, to be exported under this name. */
  readonly StepwellWaker: WakerClass;
}

export type { Project } from '../project.ts';
export type { WorkerContext, WorkerEnv } from './platform.ts';
export type { Waker, WakerClass } from './waker.ts';
