import type { StepServices } from '../../ports/step-services.ts';

function none(): never {
  throw new Error('what built-in handlers reach is in the engine only');
}

/** Built-in handlers do not run in workers. */
export const NO_SERVICES: StepServices = {
  newId: none,
  maxContextBytes: 0,
  ownMetadata: {},
  stateOf: none,
  instance: none,
  trigger: none,
  emitted: none,
  eventWait: none,
  matchingEvents: none,
  putBlob: none,
  getBlob: none,
};
