import { describeCrashedRequests } from './describe-crashed-requests.ts';

describeCrashedRequests('PGlite');
