import { describeForks } from './describe-forks.ts';

describeForks('memory');
