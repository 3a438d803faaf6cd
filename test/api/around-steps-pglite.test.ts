import { describeAroundSteps } from './describe-around-steps.ts';

describeAroundSteps('PGlite');
