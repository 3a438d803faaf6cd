import { describeForks } from './describe-forks.ts';

describeForks('PostgreSQL');
