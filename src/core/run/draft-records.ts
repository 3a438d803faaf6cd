import { type Json, type JsonObject, jsonBytes } from '../json.ts';
import type { InboxDone, NewTask, SupersedeRows } from './changes.ts';
import type { Env } from './env.ts';
import type { Escalation } from './escalation.ts';
import { Gathered } from './gathered.ts';
import { InstanceDraft } from './instance-draft.ts';
import type { Invocation } from './interceptors/invocation.ts';
import { itemPathsOf } from './item-paths.ts';
import type { Knowledge } from './knowledge.ts';
import { type NewRow, isTrace, isVisibleToTemplates } from './output-row.ts';
import {
  type Part,
  type PartItem,
  type PendingChanges,
  append,
  areWorthACommit,
  fillRow,
  noChanges,
  withdrawChild,
  withdrawTask,
} from './pending-changes.ts';
import type { Plan } from './plan.ts';
import type { InstanceRecord } from './record.ts';
import { runtimeSection } from './runtime-section.ts';
import { supersedePending } from './supersede-pending.ts';

/**
 * The part of a draft that gathers records for the next commit: rows, tasks, children, the journal, columns of the
 * instance. The other part is the tree.
 */
export abstract class DraftRecords {
  /** Changes when blocks are injected or the run moves to another version (20.4, 20.5). */
  plan: Plan;
  readonly env: Env;
  readonly knowledge: Knowledge;
  /** The columns of the instance with what this turn changed in them. */
  readonly instance: InstanceDraft;
  /** Escalation handlers to call once, best effort: pure ones before the next commit, the others after it. */
  readonly escalations = new Gathered<Escalation>();
  /** Interceptors to call before the next commit ([INT-5]). */
  readonly invocations = new Gathered<Invocation>();
  /** Looks into the result cache since the last commit, with and without a result (8.9). */
  readonly cacheLooks = { hits: 0, misses: 0 };
  /** For the scopes of texts, of which there is one per step. */
  readonly nowHere = (): number => this.env.now;
  readonly runtimeHere = (): JsonObject => runtimeSection(this.record);
  protected pending = noChanges();
  /** Rows among them that say nothing of how far the run is. */
  private traceCount = 0;

  protected constructor(init: {
    readonly plan: Plan;
    readonly env: Env;
    readonly knowledge: Knowledge;
    readonly record: InstanceRecord;
  }) {
    this.plan = init.plan;
    this.env = init.env;
    this.knowledge = init.knowledge;
    this.instance = new InstanceDraft(init.record);
  }

  get record(): InstanceRecord {
    return this.instance.record;
  }

  /** Rows that wait for the next commit; the walk pauses when there are many (RULINGS A38). */
  get pendingRows(): readonly NewRow[] {
    return this.pending.rows;
  }

  /** How many of them say how far the run is. */
  protected get rowCount(): number {
    return this.pending.rows.length - this.traceCount;
  }

  protected get hasRecords(): boolean {
    return this.instance.hasChanges || areWorthACommit(this.pending);
  }

  /** What has gathered; the draft then collects anew. */
  protected takePending(): PendingChanges {
    const taken = this.pending;
    this.pending = noChanges();
    this.traceCount = 0;
    return taken;
  }

  addRow(row: Omit<NewRow, 'id'>): string {
    const id = this.env.newId();
    const { blockId, iteration, kind, attempt, output, startedAt, runNo } = row;
    const bytes = jsonBytes(output);
    const added: NewRow = { id, blockId, iteration, kind, attempt, output, bytes, startedAt };
    this.pending.rows.push(runNo === undefined ? added : { ...added, runNo });
    if (isTrace(row.kind)) this.traceCount += 1;
    this.learn(row);
    return id;
  }

  /** Keeps an output in mind that some text may read. */
  private learn({ blockId, iteration, kind, output }: Omit<NewRow, 'id'>): void {
    const read = this.plan.readOutputs === 'all' || this.plan.readOutputs.has(blockId);
    if (!read || !isVisibleToTemplates(kind)) return;
    this.knowledge.setOutput(blockId, output, itemPathsOf(this.plan, blockId, iteration));
  }

  /** The run is made of something else from here on, whose texts may read what nobody has read so far. */
  replan(plan: Plan): void {
    this.plan = plan;
    this.knowledge.reopen();
    for (const row of this.pending.rows) this.learn(row);
  }

  /** Puts the answer of an invoked interceptor into its row, which is still to be committed. */
  fillRow(rowId: string, output: Json): void {
    fillRow(this.pending.rows, rowId, output);
  }

  push<K extends Part>(part: K, ...items: readonly PartItem<K>[]): void {
    append(this.pending, part, items);
  }

  /** Takes rows out of the lists, those of this commit included. */
  supersede(rule: SupersedeRows): void {
    const { rows, rules } = supersedePending(this.pending.rows, rule);
    this.pending.rows = [...rows];
    this.push('supersede', ...rules);
  }

  createTask(task: Omit<NewTask, 'id'>): string {
    const id = this.env.newId();
    this.pending.tasksCreated.push({ ...task, id });
    return id;
  }

  /** Closes the task of a leaf; one that this commit was to create is not created at all. */
  closeTask(taskId: string, event: 'cancelled' | 'timed_out'): void {
    if (withdrawTask(this.pending, taskId)) this.instance.countSteps(-1);
    else this.push('tasksClosed', { taskId, event });
  }

  /** Sends a cancel to a child; one that this commit was to start is not started at all. */
  cancelChild(instanceId: string): void {
    if (withdrawChild(this.pending, instanceId)) return;
    this.push('childrenCancelled', { instanceId, signalId: this.env.newId() });
  }

  note(kind: string, details: JsonObject): void {
    this.pending.journal.push({ id: this.env.newId(), kind, details });
  }

  finishInbox(done: InboxDone): void {
    this.pending.inboxDone.push(done);
  }

  markStrict(): void {
    this.pending.strict = true;
  }

  countResult(options: { readonly shielded: boolean }): void {
    this.pending.hasResult = true;
    if (options.shielded) this.pending.protectedResult = true;
  }

  countStep(): void {
    this.pending.stepsDelta += 1;
    this.instance.countSteps(1);
  }
}
