import { describeWakes } from './describe-wakes.ts';

describeWakes('PGlite');
