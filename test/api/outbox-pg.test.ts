import { describeOutboxOverHttp } from './describe-outbox.ts';

describeOutboxOverHttp('PostgreSQL');
