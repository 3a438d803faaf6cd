import type { Json, JsonObject } from '../core/json.ts';
import type { SequenceRecord } from '../ports/store/catalog.ts';
import type { Refusal } from './refusal.ts';
import type { UseCaseDeps } from './use-case.ts';

/** A start as it was asked for ([INS-1]); absent members are null. */
export interface StartInput {
  readonly sequenceId: string;
  readonly tenantId: string;
  readonly namespace: string;
  readonly priority: number;
  readonly timezone: string;
  readonly metadata: JsonObject;
  readonly context: { readonly data: Json; readonly config: JsonObject; readonly audit: readonly Json[] };
  readonly dryRun: boolean;
  readonly dryRunAutoApprove: boolean;
  /** Keeps the times of a dry run ([DRY-3]); absent means false. */
  readonly dryRunRealTime?: boolean;
  readonly nextFireAt: number | null;
  readonly concurrencyKey: string | null;
  readonly maxConcurrency: number | null;
  readonly idempotencyKey: string | null;
  readonly sessionId: string | null;
  readonly budget: JsonObject | null;
}

/** A start that names its sequence by id, or by name in its own namespace. */
export interface TargetedStart extends Omit<StartInput, 'sequenceId'> {
  readonly target: StartTarget;
}

export type StartTarget =
  | { readonly id: string }
  /** `version` null: the highest that is not deprecated ([VER-4]). */
  | { readonly name: string; readonly version: number | null };

/** The sequence of a single start; null: the tenant has none such. */
export function findTarget(
  { store }: Pick<UseCaseDeps, 'store'>,
  { target, tenantId, namespace }: TargetedStart,
): Promise<SequenceRecord | null> {
  return 'id' in target
    ? store.getSequence(tenantId, target.id)
    : store.findSequence({ tenantId, namespace, name: target.name, version: target.version });
}

/** Those of a batch, each looked up once; one found by id may be another tenant's. */
export async function findTargets(
  deps: Pick<UseCaseDeps, 'store'>,
  starts: readonly TargetedStart[],
): Promise<readonly (SequenceRecord | null)[]> {
  const known = new Map<string, SequenceRecord | null>();
  const found: (SequenceRecord | null)[] = [];
  for (const start of starts) {
    const { target, tenantId, namespace } = start;
    const key = JSON.stringify(
      'id' in target ? target.id : [tenantId, namespace, target.name, target.version],
    );
    let sequence = known.get(key);
    if (sequence === undefined) {
      sequence = await ('id' in target ? deps.store.getSequence(null, target.id) : findTarget(deps, start));
      known.set(key, sequence);
    }
    found.push(sequence);
  }
  return found;
}

export function startInputOf(
  { target: _target, ...rest }: TargetedStart,
  { id }: SequenceRecord,
): StartInput {
  return { ...rest, sequenceId: id };
}

export function unknownTarget(target: StartTarget): Refusal {
  if ('id' in target) return { kind: 'not_found', message: `sequence ${target.id}` };
  const version = target.version === null ? '' : ` version ${target.version}`;
  return { kind: 'not_found', message: `sequence ${target.name}${version}` };
}
