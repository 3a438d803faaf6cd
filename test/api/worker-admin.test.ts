import { describeCluster, describeWorkerAdminOverHttp } from './describe-worker-admin.ts';

describeWorkerAdminOverHttp('memory');
describeCluster('memory');
