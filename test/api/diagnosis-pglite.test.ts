import { describeDiagnosis } from './describe-diagnosis.ts';

describeDiagnosis('PGlite');
