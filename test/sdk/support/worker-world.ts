import type { Log } from '../../../src/ports/system.ts';
import type { SequenceDraft } from '../../../src/sdk/sequence-draft.ts';
import { createWorker, type Worker, type WorkerOptions } from '../../../src/sdk/worker.ts';
import { createWorld, type SdkWorld } from './world.ts';

/** A world whose steps wait for a worker, and workers on its clock behind a network that can fail. */
export interface WorkerWorld extends SdkWorld {
  readonly logged: string[];
  readonly workerOf: (options: Omit<WorkerOptions, 'client'>) => Worker;
  /** Starts an instance of one step with this handler. */
  readonly runStep: (handler: string, more?: object, data?: object) => ReturnType<SdkWorld['run']>;
}

export function createWorkerWorld(): WorkerWorld {
  const world = createWorld();
  const logged: string[] = [];
  const log = logTo(logged);
  return {
    ...world,
    logged,
    workerOf: (options) =>
      createWorker({ client: world.clientOf(), clock: world.time.clock, log, workerId: 'w-1', ...options }),
    runStep: (handler, more = {}, data = {}) => {
      const step = { type: 'step', id: 'work', handler, params: '{{data}}', ...more } as const;
      const draft: SequenceDraft = { name: `does-${handler}`, blocks: [step] };
      return world.run(draft, data);
    },
  };
}

/** Something that a test waits for, and a handler tells. */
export function createSignal(): { readonly tell: () => void; readonly told: Promise<void> } {
  let tell = (): void => undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return { tell: () => tell(), told };
}

function logTo(lines: string[]): Log {
  const at = (level: string) => (message: string) => {
    lines.push(`${level} ${message}`);
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
