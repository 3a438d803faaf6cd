import { describeRefusals } from './describe-refusals.ts';
import { ACTION_REFUSALS } from './tables/refusals-actions.ts';
import { INSTANCE_REFUSALS } from './tables/refusals-instances.ts';
import { OUTSIDE_REFUSALS } from './tables/refusals-outside.ts';
import { SEQUENCE_REFUSALS } from './tables/refusals-sequences.ts';
import { WORKER_REFUSALS } from './tables/refusals-workers.ts';

describeRefusals('about sequences (http-api.md 1 to 4)', SEQUENCE_REFUSALS);
describeRefusals('about instances (http-api.md 5)', INSTANCE_REFUSALS);
describeRefusals('that acts on instances (http-api.md 6 to 10, 22, 24, 25)', ACTION_REFUSALS);
describeRefusals('about what is around instances (http-api.md 11 to 17)', OUTSIDE_REFUSALS);
describeRefusals('about workers (http-api.md 18 to 21)', WORKER_REFUSALS);
