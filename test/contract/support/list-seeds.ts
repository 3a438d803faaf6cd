import { type ApiFixture, TENANT } from '../../api/support/api-fixture.ts';
import { document, startBody } from '../../api/support/documents.ts';
import { takeTurn } from '../../api/support/seeded-runs.ts';
import { auditEntry, row, settleAs } from '../../support/turn-builder.ts';

/** Makes some rows and answers the path of their list. */
export type Seed = (api: ApiFixture, count: number) => Promise<string>;

export const NAMED = { tenant_id: TENANT, namespace: 'fulfilment' };

/** Posts a body for each row, the clock moving with every other one, so that some are made at one instant. */
export const posting =
  (path: string, list: string, bodyOf: (index: number) => object): Seed =>
  async (api, count) => {
    for (let index = 0; index < count; index += 1) {
      if (index % 2 === 0) api.clock.now += 1;
      const reply = await api.call('POST', path, { body: bodyOf(index) });
      if (reply.status >= 300) throw new Error(`${path} answered ${reply.status} ${reply.text}`);
    }
    return list;
  };

/** Names whose order is not that of their creation. */
export const name = (index: number): string => `n-${String((index * 7919) % 1009).padStart(4, '0')}`;

export const publishing: Seed = posting('/sequences', '/sequences', (index) =>
  document({ name: `n-${index % 3}`, version: index }),
);

export async function sequence(api: ApiFixture): Promise<string> {
  const body = document({ name: 'listed' });
  await api.call('POST', '/sequences', { body });
  return body.id;
}

export const starting =
  (list: string, more: (index: number) => object = () => ({})): Seed =>
  async (api, count) => {
    const id = await sequence(api);
    return posting('/instances', list, (index) => startBody(id, { ...more(index) }))(api, count);
  };

export const seeding =
  (list: string, one: (api: ApiFixture) => Promise<unknown>): Seed =>
  async (api, count) => {
    for (let index = 0; index < count; index += 1) {
      if (index % 2 === 0) api.clock.now += 1;
      await one(api);
    }
    return list;
  };

export const ofInstance =
  (part: string, fill: (api: ApiFixture, id: string, count: number) => Promise<void>): Seed =>
  async (api, count) => {
    const { id } = (await api.call('POST', '/instances', { body: startBody(await sequence(api)) })).body;
    await fill(api, id, count);
    return `/instances/${id}${part}`;
  };

/** So many changes of state, in one commit each. */
export async function change(api: ApiFixture, id: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    api.clock.now += index % 2;
    const audit = [auditEntry('running', 'scheduled')];
    await takeTurn(api, id, { audit, settle: settleAs('scheduled', { dueAt: api.clock.now }) });
  }
}

export async function write(api: ApiFixture, id: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => row({ iteration: `l:${index}` }));
  await takeTurn(api, id, { rows, settle: settleAs('scheduled', { dueAt: api.clock.now }) });
}
