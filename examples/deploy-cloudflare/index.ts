import { createCloudflareWorker } from 'stepwell/cloudflare';
import * as handlers from './handlers.ts';
import * as sequences from './sequences.ts';

const { worker, StepwellWaker } = createCloudflareWorker({ handlers, sequences });

export { StepwellWaker };
export default worker;
