import { describeShape } from './describe-shape.ts';

describeShape('memory');
