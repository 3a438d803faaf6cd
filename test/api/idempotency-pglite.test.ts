import { describeIdempotency } from './describe-idempotency.ts';

describeIdempotency('PGlite');
