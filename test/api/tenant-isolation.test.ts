import { describeTenantIsolation } from './describe-tenant-isolation.ts';

describeTenantIsolation('memory');
