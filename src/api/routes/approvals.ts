import { listApprovals } from '../../engine/list-approvals.ts';
import { defineRoute, okay } from '../route.ts';
import { ApprovalPage, ApprovalQuery, showApproval } from '../schemas/approval.ts';
import { NoParameters } from '../schemas/wire-values.ts';

const list = defineRoute({
  method: 'GET',
  path: '/approvals',
  tag: 'approvals',
  summary:
    'Gates that wait for an answer, newest instance first, or with order=deadline the most urgent first',
  params: NoParameters,
  query: ApprovalQuery,
  responses: { 200: ApprovalPage },
  handle: async (deps, { caller, filter }) => {
    const { items, total } = await listApprovals(deps, {
      tenantId: caller.tenantId ?? filter.tenant_id,
      namespace: filter.namespace,
      instanceId: filter.instance_id,
      sequenceId: filter.sequence_id,
      order: filter.order,
      limit: filter.limit,
      offset: filter.offset,
    });
    return okay({ items: items.map(showApproval), total });
  },
});

export const approvalRoutes = [list];
