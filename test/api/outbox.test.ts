import { describeOutboxOverHttp } from './describe-outbox.ts';

describeOutboxOverHttp('memory');
