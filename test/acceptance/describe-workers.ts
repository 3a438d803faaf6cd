import { describe, expect, it } from 'vitest';
import type { Body } from '../api/support/api-fixture.ts';
import { gate, loop, parallel, probing, shaping, step, tryCatch } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

/** Workers and recovery: scenarios G01 to G23. */
export function describeWorkers(stage: Stage): void {
  describe(`workers over ${stage.backend}`, () => {
    const resize = (extra = {}) =>
      step('r', {
        handler: 'resize',
        params: { width: '{{ data.w }}', deep: [{ to: '{{ data.w }}px' }] },
        ...extra,
      });
    const waiting = async (): Promise<string> => {
      const id = await stage.run([parallel('p', [loop('l', [resize()], { max_iterations: 1 })])], {
        context: { data: { w: 40 } },
      });
      await stage.until(id, 'waiting');
      return id;
    };
    const attempts = async (task: Body) =>
      (await stage.get(`/workers/tasks/${task.id}/attempts`)).map((event: Body) => [
        event.event,
        event.claim_epoch,
      ]);

    it('G01: a step whose handler nobody knows is one task with resolved params', async () => {
      const id = await waiting();
      const task = await stage.poll('resize', 'w1');
      expect(task).toMatchObject({
        ...{
          instance_id: id,
          block_id: 'r',
          iteration: 'l:0',
          claim_epoch: 1,
          attempt: 0,
          redelivery: false,
        },
        params: { width: 40, deep: [{ to: '40px' }] },
      });
      expect(await stage.poll('resize', 'w1')).toBeUndefined();
      expect(await stage.poll('other', 'w1')).toBeUndefined();
    });

    it('G03: the task of a worker that is silent is offered anew, and the old claim counts no more', async () => {
      const id = await waiting();
      const host = stage.functions();
      const old = await stage.poll('resize', 'w1');
      await stage.pass(61_000);
      await stage.drive(host.sweep());
      const task = await stage.poll('resize', 'w1');
      expect(task).toMatchObject({
        id: old.id,
        claim_epoch: 2,
        attempt: 0,
        redelivery: true,
        idempotency_key: old.idempotency_key,
      });
      expect((await stage.complete(old)).status).toBe(409);
      expect((await stage.fail(old)).status).toBe(409);
      expect((await stage.complete(task, { done: 1 })).status).toBe(200);
      expect((await stage.until(id)).state).toBe('completed');
      expect(await attempts(task)).toEqual([
        ['claimed', 1],
        ['reclaimed', 1],
        ['claimed', 2],
        ['stale_mutation_rejected', 1],
        ['stale_mutation_rejected', 1],
        ['completed', 2],
      ]);
    });

    it.each([
      ['fail', 'failed'],
      ['ask', 'waiting'],
    ] as const)(
      'G03: with on_uncertain %s the task of a silent worker is offered to nobody, and the run is %s [CON-6]',
      async (on_uncertain, state) => {
        const id = await stage.run([resize({ on_uncertain })], { context: { data: { w: 40 } } });
        await stage.until(id, 'waiting');
        const host = stage.functions();
        const old = await stage.poll('resize', 'w1');
        await stage.pass(61_000);
        await stage.drive(host.sweep());
        expect((await stage.until(id, state)).state).toBe(state);
        expect(await stage.poll('resize', 'w2')).toBeUndefined();
        expect((await stage.complete(old)).status).toBe(409);
        expect(await attempts(old)).toEqual([
          ['claimed', 1],
          ['failed', 1],
          ['stale_mutation_rejected', 1],
        ]);
        const asked = (await stage.get(`/approvals?instance_id=${id}`)).items;
        expect(asked).toHaveLength(on_uncertain === 'ask' ? 1 : 0);
        const { error } = (await stage.nodes(id))['r'];
        expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME', retryable: false, block_id: 'r' });
      },
    );

    it('G05: of polls at once for one task one gets it', async () => {
      await waiting();
      const host = stage.functions();
      const polls = Array.from({ length: 8 }, (_, n) =>
        host.call('POST', '/workers/tasks/poll', {
          body: { handler_name: 'resize', worker_id: `w${n}`, limit: 5 },
        }),
      );
      const replies = await stage.drive(Promise.all(polls));
      expect(replies.flatMap((reply) => reply.body)).toHaveLength(1);
    });

    it('G09: a process that wakes after its lease writes nothing, and its call counts no more', async () => {
      const owner = stage.server({ name: 'owner' });
      stage.probe.answer('p', (nth) =>
        nth === 0 ? { takesMs: 300_000, body: { by: 'late' } } : { body: { by: 'new' } },
      );
      const url = 'https://probe.example/p';
      const slow = step('p', {
        handler: 'http_request',
        params: { url, response_as: 'json', timeout_ms: 600_000 },
      });
      const id = await stage.run([loop('l', [parallel('b', [slow])], { max_iterations: 1 }), gate('ask')]);
      await stage.pass(1_000);
      owner.gate.freeze(200_000);
      stage.server({ name: 'next' });
      await stage.pass(120_000);
      await stage.until(id, 'waiting');
      const before = [
        await stage.outputs(id),
        await stage.get(`/instances/${id}/audit`),
        await stage.get(`/instances/${id}`),
      ];
      await stage.pass(300_000);
      expect(stage.probe.count('p')).toBe(2);
      const after = [
        await stage.outputs(id),
        await stage.get(`/instances/${id}/audit`),
        await stage.get(`/instances/${id}`),
      ];
      expect(after).toEqual(before);
      const row = (await stage.outputs(id)).find(({ block_id: block }) => block === 'p');
      expect(row.output.body).toEqual({ by: 'new' });
    });

    it('G11: a task whose worker is heard of is left alone', async () => {
      await waiting();
      const host = stage.functions();
      const task = await stage.poll('resize', 'w1');
      for (let n = 0; n < 3; n += 1) {
        await stage.pass(45_000);
        const beat = { worker_id: 'w1', claim_epoch: 1 };
        expect((await stage.post(`/workers/tasks/${task.id}/heartbeat`, beat)).body).toMatchObject({
          cancelled: false,
        });
        await stage.drive(host.sweep());
      }
      expect(await stage.poll('resize', 'w2')).toBeUndefined();
      expect((await stage.complete(task)).status).toBe(200);
    });

    it('G13: a run whose message was lost is found by its due time', async () => {
      const host = stage.functions();
      const id = await stage.run(
        [probing('a'), step('b', { delay: { duration: 30_000 } }), resize(), probing('z')],
        { context: { data: { w: 1 } } },
      );
      await stage.drive(host.sweep());
      expect(await stage.stateOf(id)).toBe('scheduled');
      await stage.pass(60_000);
      await stage.drive(host.sweep());
      await stage.complete(await stage.poll('resize'));
      host.queue.splice(0);
      await stage.pass(60_000);
      await stage.drive(host.sweep());
      expect([await stage.stateOf(id), stage.probe.keys()]).toEqual(['completed', ['a', 'z']]);
    });

    it.each([
      ['running', [step('a'), step('b', { handler: 'sleep', params: { duration_ms: 60_000 } })]],
      ['waiting', [step('a'), gate('b')]],
      ['scheduled', [step('a'), step('b', { delay: { duration: 60_000 } })]],
    ])('G19: a run that is %s cannot be resumed from a block', async (state, blocks) => {
      const id = await stage.run(blocks);
      await stage.until(id, state);
      expect((await stage.post(`/instances/${id}/resume-from/b`, {})).status).toBe(400);
      expect(await stage.stateOf(id)).toBe(state);
    });

    it('G23: pages of one change each have neither a gap nor a change twice', async () => {
      const host = stage.functions();
      // All end in one commit, at one instant.
      const sequenceId = await stage.publish([tryCatch('t', [step('a')], [])]);
      for (let n = 0; n < 7; n += 1) await stage.start(sequenceId);
      await stage.drive(host.sweep());
      await stage.pass(60_000);
      const all = (await stage.get('/changes')).changes;
      expect(all).toHaveLength(7);
      const seen: Body[] = [];
      let [cursor, more] = ['', true];
      while (more) {
        const page = await stage.get(`/changes?limit=1${cursor}`);
        seen.push(...page.changes);
        [cursor, more] = [`&cursor=${page.next_cursor}`, page.has_more];
      }
      expect(seen).toEqual(all);
      const last = await stage.start(sequenceId);
      await stage.drive(host.sweep());
      await stage.pass(60_000);
      const next = (await stage.get(`/changes?limit=10${cursor}`)).changes;
      expect(next.map((change: Body) => change.instance_id)).toEqual([last]);
    });

    it('G37: a template keeps types, joins texts, knows what is missing, and fails for an unknown root', async () => {
      const params = {
        n: '{{data.n}}',
        text: 'n={{data.n}}',
        gone: '{{data.gone}}',
        other: '{{data.gone|7}}',
      };
      const id = await stage.run(
        [parallel('p', [loop('l', [shaping('a', params)], { max_iterations: 1 })])],
        { context: { data: { n: 5 } } },
      );
      await stage.until(id, 'completed');
      expect((await stage.outputs(id))[0].output).toEqual({ n: 5, text: 'n=5', gone: null, other: 7 });
      const bad = await stage.run([
        shaping(
          'a',
          { deep: [{ x: '{{nope.x}}' }] },
          { retry: { max_attempts: 3, initial_backoff: 1, max_backoff: 1 } },
        ),
      ]);
      expect((await stage.until(bad)).state).toBe('failed');
      expect((await stage.nodes(bad))['a']).toMatchObject({ attempt: 0, error: { code: 'TEMPLATE_ERROR' } });
    });

    it('G39: a step that may see one key of the data sees it and the configuration, in a worker and in templates', async () => {
      const access = { context_access: { data: { fields: ['id'] } } };
      const data = { id: 7, secret: 's', 'id.x': 1 };
      const context = { data, config: { region: 'eu' } };
      const id = await stage.run(
        [
          parallel(
            'p',
            [step('w', { handler: 'see', ...access })],
            [
              shaping(
                't',
                {
                  id: '{{data.id}}',
                  secret: '{{data.secret}}',
                  whole: '{{data}}',
                  region: '{{config.region}}',
                },
                access,
              ),
            ],
          ),
        ],
        { context },
      );
      await stage.until(id, 'waiting');
      const task = await stage.poll('see');
      expect(task.context).toMatchObject({
        data: { id: 7 },
        config: { region: 'eu' },
        audit: [],
        runtime: {},
      });
      expect(Object.keys(task.context.data)).toEqual(['id']);
      await stage.complete(task);
      await stage.until(id, 'completed');
      const row = (await stage.outputs(id)).find(({ block_id: block }) => block === 't');
      expect(row.output).toEqual({ id: 7, secret: null, whole: { id: 7 }, region: 'eu' });
    });
  });
}
