import { describeSignals } from './describe-signals.ts';

describeSignals('PostgreSQL');
