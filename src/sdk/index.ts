export { sequenceJsonSchema } from '../core/definition/document-schema.ts';
export {
  type DefinedHandler,
  defineHandler,
  type HandlerContext,
  type HandlerLog,
  type HandlerOptions,
  StepError,
  type StepErrorOptions,
} from './handler.ts';
export { sequence } from './sequence.ts';
export type { BlockDraft, SequenceDraft, StepDraft } from './sequence-draft.ts';
