import { describePlansOverHttp } from './describe-plans.ts';

describePlansOverHttp('memory');
