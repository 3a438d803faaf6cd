import { describeFanOut } from './describe-fan-out.ts';

describeFanOut('memory');
