import { type Json, jsonBytes } from '../json.ts';
import type { Changes, GoBack } from './changes.ts';

/** The parts of the next commit that are plain lists, by the type of their items. */
interface Parts {
  readonly supersede: Changes['supersede'][number];
  readonly kv: Changes['kv'][number];
  readonly values: Changes['values'][number];
  readonly tasksClosed: Changes['tasksClosed'][number];
  readonly childrenStarted: Changes['childrenStarted'][number];
  readonly childrenCancelled: Changes['childrenCancelled'][number];
  readonly logs: Changes['logs'][number];
  readonly goBack: GoBack;
  readonly webhooks: NonNullable<Changes['webhooks']>[number];
  readonly outcomes: Changes['outcomes'][number];
}

export type Part = keyof Parts;
export type PartItem<K extends Part> = Parts[K];

type Lists = { [K in Part]: Parts[K][] };

/** What gathers for the next commit. */
export type PendingChanges = Lists & {
  strict: boolean;
  protectedResult: boolean;
  hasResult: boolean;
  stepsDelta: number;
  rows: Changes['rows'][number][];
  readonly framesDeleted: Changes['framesDeleted'][number][];
  readonly inboxDone: Changes['inboxDone'][number][];
  readonly tasksCreated: Changes['tasksCreated'][number][];
  readonly audit: Changes['audit'][number][];
  readonly journal: Changes['journal'][number][];
  outside?: NonNullable<Changes['outside']>;
  /** Filled in when the changes are taken. */
  frames: Changes['frames'];
  instance: Changes['instance'];
};

export function noChanges(): PendingChanges {
  return {
    strict: false,
    protectedResult: false,
    hasResult: false,
    stepsDelta: 0,
    rows: [],
    supersede: [],
    framesDeleted: [],
    inboxDone: [],
    kv: [],
    values: [],
    tasksCreated: [],
    tasksClosed: [],
    childrenStarted: [],
    childrenCancelled: [],
    audit: [],
    journal: [],
    logs: [],
    goBack: [],
    webhooks: [],
    outcomes: [],
    frames: [],
    instance: {},
  };
}

export function append<K extends Part>(pending: Lists, part: K, items: readonly PartItem<K>[]): void {
  const list: PartItem<K>[] = pending[part];
  list.push(...items);
}

/** True when something would be lost if the process died now. Logs, steps and notes alone are not worth a commit. */
export function areWorthACommit(pending: PendingChanges): boolean {
  return (
    pending.rows.length > 0 ||
    pending.framesDeleted.length > 0 ||
    pending.inboxDone.length > 0 ||
    pending.tasksCreated.length > 0 ||
    pending.childrenStarted.length > 0 ||
    pending.audit.length > 0 ||
    pending.supersede.length > 0 ||
    pending.kv.length > 0
  );
}

/** Takes a task out that was to be created, with the step it counted for; false when it is stored already. */
export function withdrawTask(pending: PendingChanges, taskId: string): boolean {
  const index = pending.tasksCreated.findIndex((task) => task.id === taskId);
  if (index === -1) return false;
  pending.tasksCreated.splice(index, 1);
  pending.stepsDelta -= 1;
  return true;
}

/** Takes a child out that was to be started; false when it is stored already. */
export function withdrawChild(pending: PendingChanges, instanceId: string): boolean {
  const index = pending.childrenStarted.findIndex((child) => child.id === instanceId);
  if (index === -1) return false;
  pending.childrenStarted.splice(index, 1);
  return true;
}

/** Gives a row that is still to be committed its output. */
export function fillRow(rows: PendingChanges['rows'], rowId: string, output: Json): void {
  const index = rows.findIndex((row) => row.id === rowId);
  const row = rows[index];
  if (row !== undefined) rows[index] = { ...row, output, bytes: jsonBytes(output) };
}
