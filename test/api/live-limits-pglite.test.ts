import { describeLiveLimits } from './describe-live-limits.ts';

describeLiveLimits('PGlite');
