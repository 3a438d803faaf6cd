import type { Json } from '../../core/json.ts';
import { type DefinedHandler, defineHandler, type HandlerContext } from '../handler.ts';

/** What a plain function of a worker is told about its task, next to its input. */
export interface WorkerContext extends HandlerContext {
  readonly taskId: string;
  /** The last checkpoint of this step, also one of an earlier claim or attempt; undefined when there is none. */
  readonly checkpoint: Json | undefined;
  /**
   * Stores how far the work has got, at most 256 KiB, for whoever takes the task over. Rejects with an ApiError when the
   * claim is lost.
   */
  readonly saveCheckpoint: (checkpoint: Json) => Promise<void>;
}

/** A handler without schemas: the params come in as they are. Throws and returns like one of `defineHandler`. */
export type WorkerFunction = (input: Json, context: WorkerContext) => unknown;

export type TaskExtras = Pick<WorkerContext, 'taskId' | 'checkpoint' | 'saveCheckpoint'>;

/** The handler of one task. */
export type HandlerTable = ReadonlyMap<string, (extras: TaskExtras) => DefinedHandler>;

/** By name. Throws a TypeError when there is none, or one name twice. */
export function handlerTable(
  handlers: readonly DefinedHandler[],
  functions: Readonly<Record<string, WorkerFunction>>,
): HandlerTable {
  const table = new Map<string, (extras: TaskExtras) => DefinedHandler>();
  const add = (name: string, handlerOf: (extras: TaskExtras) => DefinedHandler): void => {
    if (table.has(name)) throw new TypeError(`two handlers of the worker are called ${name}`);
    table.set(name, handlerOf);
  };
  for (const handler of handlers) add(handler.name, () => handler);
  for (const [name, run] of Object.entries(functions)) {
    add(name, (extras) => defineHandler(name, {}, (input, context) => run(input, { ...context, ...extras })));
  }
  if (table.size === 0) throw new TypeError('a worker needs at least one handler');
  return table;
}
