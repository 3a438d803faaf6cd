import { allowLoop, settings, shared } from './functions.ts';
import { deadLetters, turns } from './queues.ts';

/** The instances of one batch are worked at side by side and share their commits; what is not begun in time is given back. */
const BATCH = { size: 10, partialResponses: true };

const turn = turns.subscribe(
  { ...shared, handler: 'functions/aws/turn.handler' },
  {
    batch: BATCH,
    transform: {
      eventSourceMapping: (mapping) => {
        mapping.scalingConfig = { maximumConcurrency: settings.turnFunctionsMax };
      },
    },
  },
);

const deadLetter = deadLetters.subscribe(
  { ...shared, handler: 'functions/aws/dead-letter.handler' },
  {
    batch: BATCH,
    transform: {
      eventSourceMapping: (mapping) => {
        mapping.scalingConfig = { maximumConcurrency: 2 };
      },
    },
  },
);

allowLoop('StepwellTurnLoop', turn.nodes.function.name);
allowLoop('StepwellDeadLetterLoop', deadLetter.nodes.function.name);
