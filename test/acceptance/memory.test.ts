import { describeAll } from './describe-all.ts';

describeAll('memory');
