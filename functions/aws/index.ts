/** `stepwell/aws`: the functions of a deployment on AWS, to be put around handlers of one's own. */
export { createApiHandler } from './api.ts';
export { type AwsHost, type AwsHostOptions, createAwsHost } from './compose.ts';
export { createDeadLetterHandler } from './dead-letter.ts';
export { createSweepHandler } from './sweep.ts';
export { createTurnHandler } from './turn.ts';
