import { describeRunOperations } from './describe-run-operations.ts';

describeRunOperations('PGlite');
