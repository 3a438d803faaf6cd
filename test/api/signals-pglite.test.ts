import { describeSignals } from './describe-signals.ts';

describeSignals('PGlite');
