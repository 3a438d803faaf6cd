import type { HandlerNameStore, LiveHandlers } from '../../ports/store/handler-names.ts';
import { call } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const ANNOUNCE = 'SELECT stepwell.announce_handlers_v1($1, $2::jsonb, $3, $4)';
const LIST_LIVE = 'SELECT stepwell.live_handlers_v1($1, $2)';

export function createHandlerNameStore(driver: SqlDriver): HandlerNameStore {
  return {
    async announceHandlers({ buildId, handlers }, { announcedWithinMs, polledWithinMs }) {
      const params = [buildId, JSON.stringify(handlers), announcedWithinMs, polledWithinMs];
      return answerOf<LiveHandlers>(await call(driver, ANNOUNCE, params));
    },
    async listLiveHandlers({ announcedWithinMs, polledWithinMs }) {
      return answerOf<LiveHandlers>(await call(driver, LIST_LIVE, [announcedWithinMs, polledWithinMs]));
    },
  };
}
