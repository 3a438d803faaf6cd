import { auditEntry, frame, leaf, row, settleAs, turnOf } from '../support/turn-builder.ts';
import {
  LEASE_MS,
  claim,
  claimRequest,
  commitOk,
  commitOne,
  family,
  reportOf,
  request,
  signalOf,
  start,
  startClaimed,
} from './acts.ts';
import { rest, workerHasHook } from './hook-acts.ts';
import { type Bug, describeBugs } from './plant.ts';
import type { Session } from './sessions.ts';

const ADVANCE_LEASE = `UPDATE stepwell.test_clock SET at = at + interval '${LEASE_MS} milliseconds'`;

async function isWritten(session: Session, instanceId: string): Promise<boolean> {
  return (await session.rows('SELECT 1 FROM stepwell.kv WHERE instance_id = $1', [instanceId])).length > 0;
}

const kv = [{ key: 'k', value: 1 }];

const BUGS: readonly Bug[] = [
  {
    rule: 'a commit compares epoch and token (RULINGS A1)',
    in: 'turn_verdict',
    replace: [
      ["WHEN (row_epoch IS DISTINCT FROM ((turn ->> 'epoch'::text))::bigint)", 'WHEN false'],
      ["WHEN (row_token IS DISTINCT FROM ((turn ->> 'leaseToken'::text))::uuid)", 'WHEN false'],
    ],
    async scene(one) {
      const stale = await startClaimed(one.store);
      await one.rows(ADVANCE_LEASE);
      await claim(one.store, stale.instanceId);
      await commitOne(one.store, turnOf(stale, { kv }));
      return !(await isWritten(one, stale.instanceId));
    },
  },
  {
    rule: 'a commit locks its row before it compares (RULINGS A1, A2)',
    in: 'commit_turn_v1',
    replace: [['IS TRUE\n  FOR NO KEY UPDATE;', 'IS TRUE;']],
    async scene(taker, late) {
      const stale = await startClaimed(late.store);
      await late.rows(ADVANCE_LEASE);
      await taker.begin();
      await claim(taker.store, stale.instanceId);
      const pending = commitOne(late.store, turnOf(stale, { kv }));
      await late.untilBlocked();
      await taker.commit();
      await pending;
      return !(await isWritten(late, stale.instanceId));
    },
  },
  {
    rule: 'a settle after the end looks whether a report came in ([HOOK-2], RULINGS A5)',
    in: 'update_turns',
    replace: [['stepwell.is_terminal(t.settles_to) IS NOT TRUE', 'NOT stepwell.is_terminal(t.settles_to)']],
    async scene(one) {
      const { held, taskId } = await workerHasHook(one.store);
      await one.store.reportTask(reportOf(taskId, 1));
      await commitOne(one.store, rest(held));
      return (await one.store.getInstance(null, held.instanceId))?.dueAt !== null;
    },
  },
  {
    rule: 'a settle looks whether a fact came in (RULINGS A5)',
    in: 'update_turns',
    replace: [['WHEN i.wake_seq > t.seen AND', 'WHEN false AND']],
    async scene(one) {
      const held = await startClaimed(one.store);
      await one.store.signal(signalOf(held.instanceId));
      await one.rows('UPDATE stepwell.task_instances SET due_at = NULL WHERE id = $1', [held.instanceId]);
      await commitOne(one.store, turnOf(held, { settle: settleAs('paused') }));
      return (await one.store.getInstance(null, held.instanceId))?.dueAt !== null;
    },
  },
  {
    rule: 'a fact touches its instance (RULINGS A4)',
    in: 'accept_fact',
    replace: [['due_at = least(i.due_at, p_now)', 'due_at = i.due_at']],
    async scene(one) {
      const held = await startClaimed(one.store);
      await commitOk(one.store, turnOf(held, { settle: settleAs('paused') }));
      await one.store.signal(signalOf(held.instanceId));
      return (await one.store.claimDue(request())).claims.length === 1;
    },
  },
  {
    rule: 'an intent holds only while no fact is unseen (RULINGS A9)',
    in: 'commit_turn_v1',
    replace: [['v_granted := r.wake_seq = v_seen', 'v_granted := true']],
    async scene(one) {
      const held = await startClaimed(one.store);
      await one.store.signal(signalOf(held.instanceId));
      const intent = frame({ cursor: 1, leaf: leaf({ dispatchedAt: 9 }) });
      await commitOk(one.store, turnOf(held, { frames: [{ frame: frame({ cursor: 1 }), intent }] }));
      const frontier = await one.store.getFrontier(null, held.instanceId);
      return frontier?.frames[0]?.leaf === null;
    },
  },
  {
    rule: 'a commit behind a cancel is refused (RULINGS A10)',
    in: 'turn_verdict',
    replace: [['(row_cancel_seq > seen)', 'false']],
    async scene(one) {
      const held = await startClaimed(one.store);
      await one.store.signal(signalOf(held.instanceId, 'cancel'));
      return (await commitOne(one.store, turnOf(held, { kv }))).verdict === 'refused';
    },
  },
  {
    rule: 'an end does not drop a fact that was accepted (RULINGS A12)',
    in: 'turn_verdict',
    replace: [["= ANY (ARRAY['completed'::text, 'failed'::text])", "= ANY (ARRAY['none'::text])"]],
    async scene(one) {
      const held = await startClaimed(one.store);
      await one.store.signal(signalOf(held.instanceId));
      const audit = [auditEntry('running', 'completed')];
      return (
        (await commitOne(one.store, turnOf(held, { audit, settle: settleAs('completed') }))).verdict ===
        'refused'
      );
    },
  },
  {
    rule: 'a due claim skips what is locked (RULINGS A3, A28)',
    in: 'lock_due',
    replace: [['FOR NO KEY UPDATE SKIP LOCKED', 'FOR NO KEY UPDATE']],
    async scene(one, two) {
      const id = await start(one.store);
      await one.begin();
      await one.store.signal(signalOf(id));
      const pending = two.store.claimDue(request());
      const outcome = await Promise.race([
        pending.then(() => 'answered'),
        two.untilBlocked().then(
          () => 'waits',
          () => 'answered',
        ),
      ]);
      await one.commit();
      await pending;
      return outcome === 'answered';
    },
  },
  {
    rule: 'a claim does not lock keys, so that key checks of others hide nothing (RULINGS A3)',
    in: 'lock_due',
    replace: [['FOR NO KEY UPDATE SKIP LOCKED', 'FOR UPDATE SKIP LOCKED']],
    async scene(one, two) {
      const id = await start(one.store);
      await one.begin();
      await one.rows('SELECT 1 FROM stepwell.task_instances WHERE id = $1 FOR KEY SHARE', [id]);
      const { claims } = await two.store.claimDue(request());
      await one.rollback();
      return claims.length === 1;
    },
  },
  {
    rule: 'the key is locked before the running instances are counted (RULINGS A31)',
    in: 'without_slot',
    replace: [
      ['k.concurrency_key = v_key.concurrency_key FOR UPDATE;', 'k.concurrency_key = v_key.concurrency_key;'],
    ],
    async scene(one, two) {
      const keyed = { concurrencyKey: 'depot', maxConcurrency: 1 };
      const [first, second] = [await start(one.store, keyed), await start(one.store, keyed)];
      await one.begin();
      await one.store.claimOne(claimRequest(first));
      const pending = two.store.claimOne(claimRequest(second));
      await Promise.race([pending, two.untilBlocked().catch(() => {})]);
      await one.commit();
      return (await pending).status === 'not_due';
    },
  },
  {
    rule: 'the end of a child wakes its parent in the same commit (RULINGS A17)',
    in: 'finish_terminal',
    replace: [
      [
        'PERFORM stepwell.accept_fact(r.tenant_id, r.parent_instance_id',
        'PERFORM stepwell.accept_fact(r.tenant_id, r.instance_id',
      ],
    ],
    async scene(one) {
      const { parent, child } = await family(one.store);
      const audit = [auditEntry('running', 'completed')];
      await commitOne(one.store, turnOf(child, { audit, settle: settleAs('completed') })).catch(() => {});
      return (await one.store.getFrontier(null, parent.instanceId))?.inbox.length === 1;
    },
  },
  {
    rule: 'the instant of a commit is read after the lock (RULINGS A25)',
    in: 'commit_turn_v1',
    replace: [
      ['v_now := stepwell.sw_now();', ''],
      ['  v_now timestamptz;', '  v_now timestamptz := stepwell.sw_now();'],
    ],
    async scene(one, two) {
      const held = await startClaimed(two.store);
      await one.begin();
      await one.rows('SELECT 1 FROM stepwell.task_instances WHERE id = $1 FOR UPDATE', [held.instanceId]);
      const pending = two.store.commit([turnOf(held, { rows: [row()] })]);
      await two.untilBlocked();
      await one.rows(ADVANCE_LEASE);
      await one.commit();
      return (await pending).now === (await one.store.ping()).now;
    },
  },
  {
    rule: 'a take-over counts only what speaks against the instance (RULINGS A18)',
    in: 'count_take_over',
    replace: [['CASE WHEN i.claimed_among = 1 THEN 1 ELSE 0 END', '1']],
    async scene(one) {
      await start(one.store);
      await start(one.store);
      await one.store.claimDue(request());
      await one.rows(ADVANCE_LEASE);
      const { claims } = await one.store.claimExpired(request());
      return claims.every(({ instance }) => instance.recoveryCount === 0);
    },
  },
  {
    rule: 'a signal with a known id wakes nobody (RULINGS A36)',
    in: 'signal_v1',
    replace: [['s.instance_id = p_instance AND s.id = p_signal', 'false']],
    async scene(one) {
      const signal = signalOf(await start(one.store));
      await one.store.signal(signal);
      const again = await one.store.signal(signal).catch(() => null);
      return again?.status === 'repeated';
    },
  },
];

describeBugs('the turn protocol', BUGS);
