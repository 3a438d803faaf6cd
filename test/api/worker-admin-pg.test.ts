import { describeCluster, describeWorkerAdminOverHttp } from './describe-worker-admin.ts';

describeWorkerAdminOverHttp('PostgreSQL');
describeCluster('PostgreSQL');
