import { describe, expect, it } from 'vitest';
import { createFixture } from './support/api-fixture.ts';
import { started } from './support/documents.ts';

describe('enumerations on the wire', () => {
  it('are lower snake case, but for the priority [ENUM-1]', async () => {
    const api = createFixture();
    const id = await started(api, { priority: 'hIGH' });
    expect((await api.call('GET', `/instances/${id}`)).body).toMatchObject({
      state: 'scheduled',
      priority: 'High',
    });
  });

  it('a body that is no JSON is 400 before its shape is looked at [PUB-1]', async () => {
    const api = createFixture();
    for (const raw of ['{', '', 'null]', "{'id': 1}"]) {
      expect((await api.call('POST', '/sequences', { raw })).status).toBe(400);
    }
    expect((await api.call('POST', '/sequences', { raw: '{}' })).status).toBe(422);
  });
});
