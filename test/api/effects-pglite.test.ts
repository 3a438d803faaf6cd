import { describeEffects } from './describe-effects.ts';

describeEffects('PGlite');
