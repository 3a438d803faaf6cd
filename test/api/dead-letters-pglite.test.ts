import { describeDeadLetters } from './describe-dead-letters.ts';

describeDeadLetters('PGlite');
