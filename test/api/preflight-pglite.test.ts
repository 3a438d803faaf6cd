import { describePreflight } from './describe-preflight.ts';

describePreflight('PGlite');
