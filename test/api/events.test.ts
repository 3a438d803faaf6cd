import { expect, it } from 'vitest';
import { createFixture } from './support/api-fixture.ts';
import { describeEventApi } from './describe-events.ts';

describeEventApi('memory');

it('a list of events needs a tenant also where calls need none [API 13]', async () => {
  const api = createFixture({ requireTenantHeader: false });
  for (const query of ['', '?tenant_id=', '?tenant_id=%20']) {
    const reply = await api.send('GET', `/api/v1/events${query}`, { tenant: null });
    expect(reply.status).toBe(400);
    expect(reply.body.error).toContain('missing field `tenant_id`');
  }
});
