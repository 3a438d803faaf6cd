const ELSEWHERE = 'needs more than a request; test/api has it';
const NEVER = 'the contract has it, and this server has no use for it';

/** Members that no request of the walk brings about, each by the first place where the document names it. */
export const UNSEEN: Readonly<Record<string, string>> = {
  'GET /cluster/nodes 200 [].stopped_at': ELSEWHERE,
  'GET /health/ready 503 .reason': ELSEWHERE,
  'GET /health/ready 503 .status': ELSEWHERE,
  'GET /instances/dlq 200 [].cancel_requested_at': 'a failed instance drains no cancel',
  'GET /instances/dlq 200 [].input': 'shown by GET /instances/{id} alone',
  'GET /instances/dlq 200 [].waits_for': 'a failed instance waits for nothing',
  'GET /instances/{id}/diagnosis 200 .diagnoses[].evidence[].data': ELSEWHERE,
  'GET /instances/{id}/diagnosis 200 .diagnoses[].evidence[].observed_at': NEVER,
  'GET /instances/{id}/explain 200 .lease.expired': 'there is a lease only while a turn works',
  'GET /instances/{id}/explain 200 .lease.owner': 'there is a lease only while a turn works',
  'GET /instances/{id}/explain 200 .lease.until': 'there is a lease only while a turn works',
  'GET /instances/{id}/explain 200 .unheard_signals[].accepted_at': ELSEWHERE,
  'GET /instances/{id}/explain 200 .unheard_signals[].detail': ELSEWHERE,
  'GET /instances/{id}/explain 200 .unheard_signals[].name': ELSEWHERE,
  'GET /instances/{id}/explain 200 .unheard_signals[].signal_id': ELSEWHERE,
  'GET /webhooks/outbox 200 [].claimed_at': 'only parked rows are listed',
  'GET /webhooks/outbox 200 [].next_attempt_at': 'only parked rows are listed',
  'GET /workers/tasks/{id}/attempts 200 [].reason': ELSEWHERE,
  'POST /sequences/dataflow 200 .report.findings_omitted': ELSEWHERE,
  'POST /sequences/migrate-instance/preview 200 .refusals[].block_id': ELSEWHERE,
  'POST /sequences/migrate-instance/preview 200 .refusals[].reason': ELSEWHERE,
};
