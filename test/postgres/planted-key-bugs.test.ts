import { start } from './acts.ts';
import { type Bug, describeBugs } from './plant.ts';
import { leaveNote, noteCount, reserve, storeOfAttempt, takeKey } from './request-keys.ts';

const ANSWER = { status: 200, type: null, body: null };

const BUGS: readonly Bug[] = [
  {
    rule: 'a request that is under way is not begun again (RULINGS B13)',
    in: 'reserve_key_v1',
    replace: [['k.lease_until > v_now', 'false']],
    async scene(one, two) {
      await takeKey(one.store, 'k');
      return (await reserve(two.store, 'k')).status === 'running';
    },
  },
  {
    rule: 'a call that another attempt has made is undone (RULINGS B13)',
    in: 'record_call_v1',
    replace: [['IF NOT FOUND THEN', 'IF false THEN']],
    async scene(one, two) {
      const id = await start(one.store);
      const first = await storeOfAttempt(one.store, await takeKey(one.store, 'k', 0));
      const second = await storeOfAttempt(two.store, await takeKey(two.store, 'k'));
      await leaveNote(first, id);
      await leaveNote(second, id);
      return (await noteCount(one.store, id)) === 1;
    },
  },
  {
    rule: 'an attempt makes no call after its request has ended (RULINGS B13)',
    in: 'begin_call_v1',
    replace: [['IF NOT FOUND THEN', 'IF false THEN']],
    async scene(one, two) {
      const id = await start(one.store);
      const attempt = await takeKey(one.store, 'k', 0);
      const late = await storeOfAttempt(two.store, await takeKey(two.store, 'k'));
      await one.store.finishAttempt(attempt, ANSWER);
      await two.begin();
      await leaveNote(late, id).catch(() => undefined);
      await two.commit();
      return (await noteCount(one.store, id)) === 0;
    },
  },
];

describeBugs('requests with a key', BUGS);
