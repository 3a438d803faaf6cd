import { describeEventApi } from './describe-events.ts';

describeEventApi('PGlite');
