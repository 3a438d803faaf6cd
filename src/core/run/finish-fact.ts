import type { InboxDone } from './changes.ts';
import type { Draft } from './draft.ts';
import { traceSignal } from './interceptors/traces.ts';
import type { InboxRow } from './record.ts';

/** A fact is processed: what came of it is kept with it ([SIG-9]), and with a signal in the journal too ([AUD-2]). */
export function finishFact(draft: Draft, row: InboxRow, disposition: InboxDone['disposition']): void {
  draft.finishInbox({ seq: row.seq, disposition });
  const { fact } = row;
  if (fact.kind === 'context')
    draft.note('context_patch', { mode: fact.mode, sections: Object.keys(fact.sections) });
  if (fact.kind !== 'signal') return;
  draft.note('signal', { signal_id: row.id, signal_type: fact.signalType, disposition });
  if (disposition !== 'expired') traceSignal(draft, row);
}
