import pg from 'pg';
import { encodeHintMessage } from '../../../src/core/hint-message.ts';

/* What may happen to a run at any time. */

/** Another message for a run, as its queue would bring it. */
export function messageFor(instanceId: string): unknown {
  const body = encodeHintMessage({ tenantId: 'default', instanceId });
  return { Records: [{ messageId: instanceId, receiptHandle: instanceId, body }] };
}

/** The time of leases is over, as if the hour had come. */
export async function endLeases(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    "UPDATE stepwell.task_instances SET lease_until = now() - interval '1 second' WHERE lease_until IS NOT NULL",
  );
  await client.end();
}
