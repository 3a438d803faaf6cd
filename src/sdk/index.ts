export {
  type DefinedHandler,
  defineHandler,
  type HandlerContext,
  type HandlerLog,
  type HandlerOptions,
  StepError,
  type StepErrorOptions,
} from './handler.ts';
export { sequence, type SequenceDraft } from './sequence.ts';
