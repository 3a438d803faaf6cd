import type { Json } from '../../core/json.ts';
import type { SequenceDraft } from '../sequence-draft.ts';
import { type CallOptions, segment, type Send } from './send.ts';
import type { BlockTrace, Dataflow, Preflight, TemplateResult } from './wire.ts';

/** What templates are resolved with in place of a run; what is absent is empty. */
export interface TemplateSample {
  readonly context_data?: Json;
  readonly context_config?: { readonly [key: string]: Json };
  /** By block id. */
  readonly outputs?: { readonly [blockId: string]: Json };
}

/** A draft, or the id of a version. */
export type CheckedSequence = SequenceDraft | string;

/** Checks of drafts and versions. `complete` fills in what a draft leaves out. */
export function sequenceChecks(
  send: Send,
  complete: (draft: SequenceDraft, options: CallOptions) => Promise<SequenceDraft>,
) {
  const check =
    <Answer>(part: 'preflight' | 'dataflow') =>
    async (sequence: CheckedSequence, options: CallOptions = {}): Promise<Answer> => {
      if (typeof sequence === 'string') {
        const path = `/sequences/${segment(sequence)}/${part}`;
        return send<Answer>({ method: 'GET', path, idempotent: true }, options);
      }
      const body = await complete(sequence, options);
      return send<Answer>({ method: 'POST', path: `/sequences/${part}`, body, idempotent: true }, options);
    };
  return {
    /** Whether it could run: faults of the document, handlers, credentials, queues and sub-sequences. Stores nothing. */
    preflight: check<Preflight>('preflight'),
    /** Its references checked against its schemas, and types made from these. Stores nothing. */
    dataflow: check<Dataflow>('dataflow'),
    /** Resolves a text with made-up values and says where each came from. */
    debugTemplate: (template: string, sample: TemplateSample = {}, options: CallOptions = {}) => {
      const body = { ...sample, template };
      return send<TemplateResult>(
        { method: 'POST', path: '/debug/template', body, idempotent: true },
        options,
      );
    },
    /** Resolves the params of one of its steps with made-up values. */
    inspectTemplate: async (
      sequence: CheckedSequence,
      blockId: string,
      sample: TemplateSample = {},
      options: CallOptions = {},
    ) => {
      const which =
        typeof sequence === 'string'
          ? { sequence_id: sequence }
          : { sequence: await complete(sequence, options) };
      const body = { ...sample, ...which, block_id: blockId };
      const path = '/sequences/inspect-template';
      return send<BlockTrace>({ method: 'POST', path, body, idempotent: true }, options);
    },
  };
}
