import { describeResolvedInput } from './describe-resolved-input.ts';

describeResolvedInput('PostgreSQL');
