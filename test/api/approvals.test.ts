import { beforeEach, describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, type Body, createFixture, OTHER_TENANT } from './support/api-fixture.ts';
import { waitingForAnswer } from './support/seeded-runs.ts';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

describe('GET /approvals', () => {
  it('lists the most urgent first with order=deadline (dashboard.md A15)', async () => {
    const urgent = await waitingForAnswer(api);
    api.clock.now += 60_000;
    const later = await waitingForAnswer(api);
    const idsOf = async (query: string) =>
      (await api.call('GET', `/approvals${query}`)).body.items.map((item: Body) => item.instance_id);
    expect(await idsOf('?order=deadline')).toEqual([urgent, later]);
    expect(await idsOf('')).toEqual([later, urgent]);
    expect((await api.call('GET', '/approvals?order=fastest')).status).toBe(400);
  });

  it('shows a gate with everything a person needs', async () => {
    const id = await waitingForAnswer(api);
    const instance = (await api.call('GET', `/instances/${id}`)).body;
    const { body } = await api.call('GET', '/approvals');
    expect(body).toEqual({
      items: [
        {
          instance_id: id,
          tenant_id: 'saltmarsh',
          namespace: 'fulfilment',
          sequence_id: instance.sequence_id,
          sequence_name: body.items[0].sequence_name,
          block_id: 'first',
          iteration: '',
          prompt: 'Refund this parcel?',
          choices: [
            { label: 'Yes', value: 'yes' },
            { label: 'No', value: 'no' },
          ],
          store_as: null,
          timeout_seconds: 3600,
          escalation_handler: null,
          waiting_since: '2027-02-11T08:00:00.000Z',
          deadline: '2027-02-11T09:00:00.000Z',
          metadata: {},
          allow_comment: false,
        },
      ],
      total: 1,
    });
  });

  it('lists the newest instance first, page by page, with the total of the filter', async () => {
    const first = await waitingForAnswer(api);
    api.clock.now += 1000;
    const second = await waitingForAnswer(api);
    const page = async (query: string) => {
      const { body } = await api.call('GET', `/approvals?${query}`);
      return [body.total, body.items.map((item: Body) => item.instance_id)];
    };
    expect(await page('')).toEqual([2, [second, first]]);
    expect(await page('limit=1')).toEqual([2, [second]]);
    expect(await page('limit=1&offset=1')).toEqual([2, [first]]);
    expect(await page(`instance_id=${first}`)).toEqual([1, [first]]);
    expect(await page(`sequence_id=${nextId()}`)).toEqual([0, []]);
    expect(await page('namespace=other')).toEqual([0, []]);
    expect((await api.call('GET', '/approvals', { tenant: OTHER_TENANT })).body).toEqual({
      items: [],
      total: 0,
    });
    expect((await api.call('GET', '/approvals?instance_id=x')).status).toBe(400);
  });
});
