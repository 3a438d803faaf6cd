/**
 * `stepwell/aws`: the functions of a deployment on AWS, to be put around handlers of one's own. `stepwell/sst` does that;
 * each function has an entry of its own (`stepwell/aws/turn`), so that it loads no more than it needs.
 */
export { createApiHandler } from './api.ts';
export { type AwsHost, type AwsHostOptions, createAwsHost } from './compose.ts';
export { createDeadLetterHandler } from './dead-letter.ts';
export { createDeployHandler, type DeployAnswer, type DeployEvent } from './deploy.ts';
export { createStreamHandler } from './stream.ts';
export { createSweepHandler } from './sweep.ts';
export { createTurnHandler } from './turn.ts';
