import { describeAll } from './describe-all.ts';

describeAll('PGlite');
