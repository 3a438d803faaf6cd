import { describeRoutes } from './describe-routes.ts';

describeRoutes('PostgreSQL');
