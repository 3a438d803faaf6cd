import type { NewWait, Outside } from '../../src/core/run/outside.ts';
import type { NewEvent } from '../../src/ports/store/events.ts';
import type { Claim } from '../../src/ports/store/turn.ts';
import {
  TENANT,
  auditEntry,
  frame,
  gate,
  nextId,
  row,
  settleAs,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import { commitOk, commitOne, startClaimed } from './acts.ts';
import { type Bug, describeBugs } from './plant.ts';

const NOTHING: Outside = { signals: [], emits: [], waits: [], waitsClosed: [], takes: [] };

function anyWait(correlationKey: string): NewWait {
  const base = { id: nextId(), blockId: 'ask', iteration: '', names: ['paid'], correlationKey };
  return { ...base, join: 'any', needed: 1 };
}

function paid(correlationKey: string): NewEvent {
  const id = nextId();
  return { id, tenantId: TENANT, eventName: 'paid', producerEventId: id, correlationKey, payload: null };
}

function opening(claim: Claim, wait: NewWait) {
  const leaf = waitingLeaf('input', { gate: gate({ waitId: wait.id }) });
  return turnOf(claim, {
    frames: [write(frame({ leaf }))],
    audit: [auditEntry('running', 'waiting')],
    settle: settleAs('waiting', { openWaits: 1 }),
    outside: { ...NOTHING, waits: [wait] },
  });
}

const BUGS: readonly Bug[] = [
  {
    rule: 'an event waits for a wait that is being registered [WAIT-2]',
    in: 'accept_event_v1',
    replace: [['PERFORM pg_advisory_xact_lock(stepwell.event_lock(p_tenant, p_key));', 'NULL;']],
    async scene(turn, producer) {
      const key = nextId();
      const claim = await startClaimed(turn.store);
      await turn.begin();
      await commitOk(turn.store, opening(claim, anyWait(key)));
      const pending = producer.store.acceptEvent(paid(key));
      await Promise.race([producer.untilBlocked().catch(() => undefined), pending]);
      await turn.commit();
      return (await pending).match !== null;
    },
  },
  {
    rule: 'a wait that is registered waits for an event that is being stored [WAIT-2]',
    in: 'hold_outside',
    replace: [['PERFORM pg_advisory_xact_lock(r.key);', 'NULL;']],
    async scene(producer, turn) {
      const key = nextId();
      const claim = await startClaimed(turn.store);
      await producer.begin();
      await producer.store.acceptEvent(paid(key));
      const pending = commitOne(turn.store, opening(claim, anyWait(key)));
      await Promise.race([turn.untilBlocked().catch(() => undefined), pending]);
      await producer.commit();
      const verdict = await pending;
      return verdict.verdict === 'ok' && verdict.inbox.length === 1;
    },
  },
  {
    rule: 'an event does not go to a wait that has ended meanwhile [WAIT-6]',
    in: 'accept_event_v1',
    replace: [['OR NOT w.open THEN', 'OR false THEN']],
    async scene(turn, producer) {
      const key = nextId();
      const wait = anyWait(key);
      const claim = await startClaimed(turn.store);
      const leaf = waitingLeaf('input', { gate: gate({ waitId: wait.id }) });
      const outside = { ...NOTHING, waits: [wait] };
      await commitOk(turn.store, turnOf(claim, { frames: [write(frame({ leaf }))], outside }));
      await turn.begin();
      const held = { ...claim, instance: { ...claim.instance, rev: 1 } };
      await commitOk(
        turn.store,
        turnOf(held, {
          frames: [write(frame({ cursor: 1 }))],
          outside: { ...NOTHING, waitsClosed: [wait.id] },
        }),
      );
      const pending = producer.store.acceptEvent(paid(key));
      await producer.untilBlocked();
      await turn.commit();
      return (await pending).match === null;
    },
  },
  {
    rule: 'a signal of a commit looks at its target under the lock (RULINGS A12)',
    in: 'write_signals',
    replace: [['OR stepwell.is_terminal(v_state)', 'OR false']],
    async scene(ending, sender) {
      const target = await startClaimed(ending.store);
      const claim = await startClaimed(sender.store);
      const end = { audit: [auditEntry('running', 'completed')], settle: settleAs('completed') };
      await commitOk(ending.store, turnOf(target, end));
      const signal = {
        instanceId: target.instanceId,
        signalId: nextId(),
        signalType: 'custom:x',
        payload: null,
      };
      const outside = { ...NOTHING, signals: [signal] };
      const verdict = await commitOne(sender.store, turnOf(claim, { rows: [row()], outside })).catch(
        () => null,
      );
      return verdict?.verdict === 'refused';
    },
  },
  {
    rule: 'a signal to the run itself keeps the intents of its commit back (RULINGS A9)',
    in: 'commit_turn_v1',
    replace: [['r.wake_seq := stepwell.write_outside(', 'PERFORM stepwell.write_outside(']],
    async scene(one) {
      const claim = await startClaimed(one.store);
      const signal = {
        instanceId: claim.instanceId,
        signalId: nextId(),
        signalType: 'custom:x',
        payload: null,
      };
      const verdict = await commitOne(
        one.store,
        turnOf(claim, { rows: [row()], outside: { ...NOTHING, signals: [signal] } }),
      );
      return verdict.verdict === 'ok' && !verdict.granted;
    },
  },
];

describeBugs('what reaches beyond an instance', BUGS);
