import type * as z from 'zod';
import type { ContextPatchBody, Retried } from '../../api/schemas/actions.ts';
import type { ArtifactList } from '../../api/schemas/artifact.ts';
import type { ApprovalBody, ApprovalPage } from '../../api/schemas/approval.ts';
import type { DataflowBody } from '../../api/schemas/dataflow.ts';
import type { AppliedBody, InstanceDiagnosisBody, RemediationList } from '../../api/schemas/diagnosis.ts';
import type { EffectBody } from '../../api/schemas/effect.ts';
import type { ExplanationBody } from '../../api/schemas/explanation.ts';
import type { InstanceBody, InstancePage, InstanceSummaryBody } from '../../api/schemas/instance.ts';
import type { LimitsBody } from '../../api/schemas/limits-overview.ts';
import type { AuditBody, LogBody, OutputBody } from '../../api/schemas/output.ts';
import type { PreflightBody } from '../../api/schemas/preflight.ts';
import type { PromotedBody, PublishedBody } from '../../api/schemas/sequence.ts';
import type { SignalBody, WokenBody } from '../../api/schemas/signal.ts';
import type { BatchStarted, StartBody, StartedBody } from '../../api/schemas/start.ts';
import type {
  BlockTrace as BlockTraceBody,
  TemplateResult as TemplateResultBody,
} from '../../api/schemas/template-trace.ts';
import type { NodeBody } from '../../api/schemas/tree.ts';
import type { FiredBody, TriggerBody, TriggerInput } from '../../api/schemas/trigger.ts';
import type { AttemptBody, HeartbeatReply, TaskBody, WorkerBody } from '../../api/schemas/worker.ts';

/**
 * What goes over the wire, inferred from the schemas of the API. This is the only file of the client that looks at them,
 * and only at their types: a client checks nothing that the server has checked, and brings no schemas along.
 */
export type Instance = z.infer<typeof InstanceBody>;
export type InstanceState = Instance['state'];
export type InstanceSummary = z.infer<typeof InstanceSummaryBody>;
export type EffectReceipt = z.infer<typeof EffectBody>;
export type Artifacts = z.infer<typeof ArtifactList>;
export type Page<Item> = Omit<z.infer<typeof InstancePage>, 'items'> & { readonly items: readonly Item[] };
export type StartInput = z.input<typeof StartBody>;
export type Started = z.infer<typeof StartedBody>;
export type StartedBatch = z.infer<typeof BatchStarted>;
export type ContextSections = z.input<typeof ContextPatchBody>['context'];
export type RetriedInstance = z.infer<typeof Retried>;
export type Node = z.infer<typeof NodeBody>;
export type BlockOutput = z.infer<typeof OutputBody>;
export type AuditEntry = z.infer<typeof AuditBody>;
export type LogLine = z.infer<typeof LogBody>;
export type Explanation = z.infer<typeof ExplanationBody>;
export type InstanceDiagnosis = z.infer<typeof InstanceDiagnosisBody>;
export type Remediation = z.infer<typeof RemediationList>[number];
export type AppliedRemediation = z.infer<typeof AppliedBody>;
export type Woken = z.infer<typeof WokenBody>;
export type SentSignal = z.infer<typeof SignalBody>;
export type Limits = z.infer<typeof LimitsBody>;
export type Approval = z.infer<typeof ApprovalBody>;
export type Approvals = z.infer<typeof ApprovalPage>;
export type Published = z.infer<typeof PublishedBody>;
export type Promoted = z.infer<typeof PromotedBody>;
export type Preflight = z.infer<typeof PreflightBody>;
export type Dataflow = z.infer<typeof DataflowBody>;
export type TemplateResult = z.infer<typeof TemplateResultBody>;
export type BlockTrace = z.infer<typeof BlockTraceBody>;
export type NewTrigger = z.input<typeof TriggerInput>;
export type Trigger = z.infer<typeof TriggerBody>;
export type Fired = z.infer<typeof FiredBody>;
export type Task = z.infer<typeof TaskBody>;
export type TaskAttempt = z.infer<typeof AttemptBody>;
export type Beat = z.infer<typeof HeartbeatReply>;
export type WorkerInfo = z.infer<typeof WorkerBody>;
