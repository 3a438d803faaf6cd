import { describeRunOperations } from './describe-run-operations.ts';

describeRunOperations('PostgreSQL');
