import { describeInspection } from './describe-inspection.ts';

describeInspection('memory');
