import { describe, expect, it } from 'vitest';
import { type AnswerLimit, oversize } from '../../src/api/answer-limit.ts';
import { answerRefusal } from '../../src/api/answer-refusal.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { createFixture, TENANT } from './support/api-fixture.ts';
import { published, startBody } from './support/documents.ts';

const plain = (maxBytes: number): AnswerLimit => ({ maxBytes, isWrapped: false });
const wrapped = (maxBytes: number): AnswerLimit => ({ maxBytes, isWrapped: true });

describe('the size of an answer', () => {
  it.each<[string, string | Uint8Array, boolean, number, number]>([
    ['letters', 'a'.repeat(100), true, 100, 102],
    ['quotes, which count twice within a JSON text', '"'.repeat(100), true, 100, 202],
    ['control characters, which are written out there', '\u0001'.repeat(100), true, 100, 602],
    ['characters of three bytes', '€'.repeat(100), true, 300, 302],
    ['characters of four bytes', '🐘'.repeat(100), true, 400, 402],
    ['bytes', new Uint8Array(100), false, 100, 136],
    ['a text that goes as bytes', 'a'.repeat(100), false, 100, 136],
  ])('is counted as the host carries it: %s', (_, content, isText, own, carried) => {
    const fits = (limit: AnswerLimit) => oversize(content, isText, limit) === undefined;
    expect([fits(plain(own)), fits(plain(own - 1))]).toEqual([true, false]);
    expect([fits(wrapped(carried)), fits(wrapped(carried - 1))]).toEqual([true, false]);
  });

  it('beyond any text is too large as well', () => {
    expect(oversize(null, true, plain(1_000_000))).toBeNull();
  });
});

describe('an answer that the host cannot pass on', () => {
  it('is 413 with what to do, and smaller parts of it are answered', async () => {
    const api = createFixture({ answerLimit: { ...plain(20_000), advice: 'ask elsewhere' } });
    for (let count = 0; count < 3; count += 1) {
      const event = {
        event_name: 'e',
        producer_event_id: `${count}`,
        correlation_key: 'k',
        tenant_id: TENANT,
      };
      await api.call('POST', '/events', { body: { ...event, payload: { text: 'x'.repeat(9_000) } } });
    }
    const refused = await api.call('GET', '/events');
    expect(refused).toMatchObject({
      status: 413,
      body: {
        error:
          'payload too large: the answer is larger than the 20000 bytes that can be sent; ask for less with a smaller `limit`, or ask elsewhere',
        code: 'answer_too_large',
        details: { max_bytes: 20_000, carried_out: false },
      },
    });
    expect(refused.body.details.bytes).toBeGreaterThan(27_000);
    expect((await api.call('GET', '/events?limit=1')).status).toBe(200);
    expect(api.logged.join()).toContain('an answer was too large');
  });

  it('is not read to its end where that would be more than the process is to hold', async () => {
    const api = createFixture({ answerLimit: plain(10_000) });
    const sequence = await published(api);
    const session = await api.call('POST', '/sessions', { body: { tenant_id: TENANT, session_key: 'k' } });
    for (let count = 0; count < 3; count += 1) {
      const context = { data: { text: 'x'.repeat(9_000) } };
      const body = startBody(sequence, { context, session_id: session.body.id });
      expect((await api.call('POST', '/instances', { body })).status).toBe(201);
    }
    const refused = await api.call('GET', `/sessions/${session.body.id}/instances`);
    expect(refused).toMatchObject({ status: 413, body: { code: 'answer_too_large' } });
    expect(refused.body.details).toEqual({ max_bytes: 20_000, carried_out: false });
  });

  it.each([
    ['GET /instances/dlq', 'a smaller `limit` and go on with `offset`'],
    ['GET /instances/{id}/outputs', 'a smaller `limit` and go on with `before`'],
    ['GET /events', 'a smaller `limit`'],
    ['GET /sessions/{id}/instances', 'a smaller `limit` and go on with `offset`'],
    ['GET /sequences.json', 'ask for its parts by GET /sequences'],
    ['GET /instances/{id}/tree', 'ask for a part of it'],
  ])('says how to come to all of it: %s', (name, advice) => {
    const route = ROUTES.find(({ method, path }) => `${method} ${path}` === name);
    const { message } = route === undefined ? { message: '' } : answerRefusal(route, null, plain(10));
    expect(message.endsWith(advice)).toBe(true);
  });

  it('says so when the request was carried out', async () => {
    const api = createFixture({ answerLimit: plain(10) });
    const reply = await api.send('POST', '/api/v1/events', {
      body: { event_name: 'e', producer_event_id: '1', correlation_key: 'k', tenant_id: 'saltmarsh' },
    });
    expect(reply.status).toBe(413);
    expect(reply.body).toMatchObject({ details: { carried_out: true } });
    const listed = await api.store.listEvents({ tenantId: 'saltmarsh', status: null, limit: 10 });
    expect(listed).toHaveLength(1);
  });

  it('is bounded for refusals too, whatever a request names', async () => {
    const api = createFixture();
    const key = 'k'.repeat(30_000);
    const fields = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${key}${at}`, { type: 7 }]));
    const schema = { type: 'object', required: Object.keys(fields) };
    const sequence = await published(api, { input_schema: schema });
    const reply = await api.call('POST', '/instances', { body: startBody(sequence) });
    expect(reply.status).toBe(422);
    expect(reply.text.length).toBeLessThan(1024 * 1024);
  });
});
