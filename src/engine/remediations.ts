import type { Remediation } from '../core/diagnosis/finding.ts';
import { ok, type Result } from '../core/result.ts';
import type { InstanceState } from '../core/run/states.ts';
import { diagnoseInstance } from './diagnose-instance.ts';
import { type Refusal, type Refused, refuse } from './refusal.ts';
import { retryInstance, setState } from './set-state.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** One thing that may be done about a diagnosis (http-api.md 7.2). */
export interface RemediationPreview {
  /** Names the remediation in exactly this state of the instance. */
  readonly previewId: string;
  readonly findingCode: string;
  readonly remediationIndex: number;
  readonly action: 'resume_instance' | 'retry_instance' | 'manual';
  readonly remediation: Remediation;
  readonly expectedState: InstanceState;
}

export interface AppliedRemediation {
  readonly action: RemediationPreview['action'];
  readonly beforeState: InstanceState;
  readonly afterState: InstanceState;
}

/** What may be done about all diagnoses of an instance, in their order. 404 unknown. */
export async function listRemediations(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
): Promise<Result<readonly RemediationPreview[], Refusal>> {
  const diagnosed = await diagnoseInstance(deps, caller, instanceId);
  if (!diagnosed.ok) return diagnosed;
  const { state, diagnoses } = diagnosed.value;
  return ok(
    diagnoses.flatMap(({ code, remediation }, place) =>
      remediation.map((one, index) => ({
        previewId: `${instanceId}:${state}:${code}:${place}:${index}`,
        findingCode: code,
        remediationIndex: index,
        action: one.action ?? ('manual' as const),
        remediation: one,
        expectedState: state,
      })),
    ),
  );
}

/**
 * Carries out a previewed remediation, computed again: 400 when the instance does not offer it any more, when its risk is
 * not acknowledged, or when only a person can do it. 404 unknown.
 */
export async function applyRemediation(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
  order: { readonly previewId: string; readonly acknowledgesRisk: boolean },
): Promise<Result<AppliedRemediation, Refusal>> {
  const previews = await listRemediations(deps, caller, instanceId);
  if (!previews.ok) return previews;
  const preview = previews.value.find(({ previewId }) => previewId === order.previewId);
  if (preview === undefined) return stale();
  const { action, remediation, expectedState: beforeState } = preview;
  if (remediation.sideEffectRisk && !order.acknowledgesRisk) {
    const message = 'it may repeat side effects: acknowledge_side_effect_risk must be true';
    return refuse('invalid_argument', message, { code: 'risk_not_acknowledged' });
  }
  if (action === 'manual') {
    return refuse('invalid_argument', 'this remediation has to be carried out manually', {
      code: 'manual_remediation',
    });
  }
  const done = await carryOut(deps, caller, instanceId, action);
  if (done.ok) return ok({ action, beforeState, afterState: done.value });
  // Somebody else was quicker than this call.
  return done.error.code === 'illegal_transition' ? stale() : done;
}

function carryOut(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
  action: 'resume_instance' | 'retry_instance',
): Promise<Result<InstanceState, Refusal>> {
  switch (action) {
    case 'resume_instance':
      return setState(deps, caller, { instanceId, state: 'scheduled', nextFireAt: null });
    case 'retry_instance':
      return retryInstance(deps, caller, instanceId);
  }
}

function stale(): Refused {
  return refuse('invalid_argument', 'the preview is stale or does not belong to this instance', {
    code: 'stale_preview',
  });
}
