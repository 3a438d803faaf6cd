import type { StepHandler } from '../../ports/step-handler.ts';

/** `transform` (handlers.md 3.5): the resolved params are the result, whatever JSON they are. */
export const transformHandler: StepHandler = {
  name: 'transform',
  kind: 'pure',
  run: ({ params }) => ({ ok: true, output: params }),
};
