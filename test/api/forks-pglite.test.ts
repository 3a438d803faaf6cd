import { describeForks } from './describe-forks.ts';

describeForks('PGlite');
