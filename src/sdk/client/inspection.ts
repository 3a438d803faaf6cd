import { type CallOptions, segment, type Send } from './send.ts';
import type { AppliedRemediation, InstanceDiagnosis, Remediation, SentSignal, Woken } from './wire.ts';

/** Calls for people who ask why a run stands, and move it. */
export function inspectionCalls(send: Send) {
  const read =
    <Answer>(part: string) =>
    (id: string, options: CallOptions = {}) =>
      send<Answer>({ method: 'GET', path: `/instances/${segment(id)}/${part}`, idempotent: true }, options);
  return {
    /** Why the instance does not go on, most telling first, with evidence and what may be done. */
    diagnosis: read<InstanceDiagnosis>('diagnosis'),
    /** What may be done about the diagnoses; each is named by the state it is meant for. */
    remediations: read<readonly Remediation[]>('remediations'),
    /** Carries a remediation out, if the instance is still as it was. One with a risk needs `acknowledge_side_effect_risk`. */
    applyRemediation: (
      id: string,
      order: { readonly preview_id: string; readonly acknowledge_side_effect_risk?: boolean },
      options: CallOptions = {},
    ) => {
      const path = `/instances/${segment(id)}/remediations/apply`;
      return send<AppliedRemediation>({ method: 'POST', path, body: order, idempotent: 'by_key' }, options);
    },
    /** Ends delays, send windows, back-offs and sleeps now, or those of one node. A repeat finds none that were meant. */
    wake: (id: string, target: { readonly node_id?: string } = {}, options: CallOptions = {}) => {
      const path = `/instances/${segment(id)}/wake`;
      return send<Woken>({ method: 'POST', path, body: target, idempotent: 'by_key' }, options);
    },
    /** Accepted signals and what came of them, newest first. */
    signals: read<readonly SentSignal[]>('signals'),
  };
}
