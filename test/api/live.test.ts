import { describeLiveRuns } from './describe-live-runs.ts';

describeLiveRuns('memory');
