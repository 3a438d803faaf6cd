import type { StepHandler } from '../../ports/step-handler.ts';

/** `noop` (handlers.md 3.1): does nothing, result `{}`. */
export const noopHandler: StepHandler = {
  name: 'noop',
  kind: 'pure',
  run: () => ({ ok: true, output: {} }),
};
