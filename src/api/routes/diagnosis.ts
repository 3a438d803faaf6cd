import { diagnoseInstance } from '../../engine/diagnose-instance.ts';
import { notFound } from '../../engine/refusal.ts';
import { applyRemediation, listRemediations } from '../../engine/remediations.ts';
import { wakeInstance } from '../../engine/wake-instance.ts';
import { defineBodyRoute, defineRoute, okay } from '../route.ts';
import {
  AppliedBody,
  ApplyInput,
  InstanceDiagnosisBody,
  RemediationList,
  showApplied,
  showDiagnosis,
  showPreview,
} from '../schemas/diagnosis.ts';
import { showSignal, showTimer, SignalList, SignalQuery, WakeInput, WokenBody } from '../schemas/signal.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';

const tag = 'diagnosis';

const diagnosis = defineRoute({
  method: 'GET',
  path: '/instances/{id}/diagnosis',
  tag,
  summary: 'Why the instance does not go on, most telling first, with evidence and what may be done',
  params: IdPath,
  query: NoParameters,
  responses: { 200: InstanceDiagnosisBody },
  handle: async (deps, { caller, path }) => {
    const diagnosed = await diagnoseInstance(deps, caller, path.id);
    return diagnosed.ok ? okay(showDiagnosis(diagnosed.value)) : diagnosed;
  },
});

const remediations = defineRoute({
  method: 'GET',
  path: '/instances/{id}/remediations',
  tag,
  summary: 'What may be done about the diagnoses',
  params: IdPath,
  query: NoParameters,
  responses: { 200: RemediationList },
  handle: async (deps, { caller, path }) => {
    const previews = await listRemediations(deps, caller, path.id);
    return previews.ok ? okay(previews.value.map(showPreview)) : previews;
  },
});

const apply = defineBodyRoute({
  method: 'POST',
  path: '/instances/{id}/remediations/apply',
  tag,
  summary: 'Carry out a previewed remediation, if the instance is still as it was',
  params: IdPath,
  query: NoParameters,
  body: ApplyInput,
  responses: { 200: AppliedBody },
  handle: async (deps, { caller, path, body }) => {
    const { preview_id: previewId, acknowledge_side_effect_risk: acknowledgesRisk } = body;
    const applied = await applyRemediation(deps, caller, path.id, { previewId, acknowledgesRisk });
    return applied.ok ? okay(showApplied(previewId, applied.value, deps.clock.nowMs())) : applied;
  },
});

const wake = defineBodyRoute({
  method: 'POST',
  path: '/instances/{id}/wake',
  tag: 'instance actions',
  summary: 'End delays, send windows, back-offs and sleeps of a run now, or those of one node',
  params: IdPath,
  query: NoParameters,
  body: WakeInput,
  bodyOptional: true,
  responses: { 200: WokenBody },
  handle: async (deps, { caller, path, body }) => {
    const woken = await wakeInstance(deps, caller, path.id, body?.node_id ?? null);
    return woken.ok ? okay({ woken: woken.value.map(showTimer) }) : woken;
  },
});

const signals = defineRoute({
  method: 'GET',
  path: '/instances/{id}/signals',
  tag: 'instances',
  summary: 'Accepted signals and what came of them, newest first',
  params: IdPath,
  query: SignalQuery,
  responses: { 200: SignalList },
  handle: async ({ store }, { caller, path, filter }) => {
    const query = { tenantId: caller.tenantId, instanceId: path.id, ...filter };
    const rows = await store.listSignals(query);
    return rows === null ? notFound('instance', path.id) : okay(rows.map(showSignal));
  },
});

export const diagnosisRoutes = [diagnosis, remediations, apply, wake, signals];
