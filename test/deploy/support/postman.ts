import { decodeHintMessage } from '../../../src/core/hint-message.ts';
import type { SqsEvent } from '../../support/event-source.ts';

/** What may happen to a message on its way from the queue to the function. What is no hint only comes, and comes again. */
export type Fate = 'once' | 'twice' | 'lost' | 'late' | 'poison';

export interface Postman {
  /** Stands between a queue and a function. A lost or late message counts as answered. */
  readonly bring: (event: SqsEvent) => Promise<unknown>;
  /** The late messages, all at once. When their function fails they are late once more. */
  bringLate(): Promise<void>;
  readonly fates: Readonly<Record<Fate, number>>;
}

type Message = SqsEvent['Records'][number];
type Invoke = (event: SqsEvent) => Promise<unknown>;

/** Fates in turn, so that each comes up early and often. */
const ORDER: readonly Fate[] = ['late', 'twice', 'lost', 'once', 'late', 'twice', 'once'];

export function createPostman(invoke: Invoke): Postman {
  const fates: Record<Fate, number> = { once: 0, twice: 0, lost: 0, late: 0, poison: 0 };
  const late: Message[] = [];
  let count = 0;
  const fateOf = ({ body }: Message): Fate => {
    if (!decodeHintMessage(body).ok) return 'poison';
    count += 1;
    return ORDER[(count - 1) % ORDER.length] ?? 'once';
  };
  return {
    fates,
    async bring({ Records }) {
      const fated = Records.map((record) => ({ record, fate: fateOf(record) }));
      for (const { fate } of fated) fates[fate] += 1;
      const of = (...wanted: readonly Fate[]) =>
        fated.flatMap(({ record, fate }) => (wanted.includes(fate) ? [record] : []));
      late.push(...of('late'));
      const again = deliver(invoke, of('twice')).catch(() => undefined);
      try {
        return await deliver(invoke, of('once', 'twice', 'poison'));
      } finally {
        await again;
      }
    },
    async bringLate() {
      const records = late.splice(0);
      await deliver(invoke, records).catch(() => late.push(...records));
    },
  };
}

async function deliver(invoke: Invoke, records: readonly Message[]): Promise<unknown> {
  return records.length === 0 ? { batchItemFailures: [] } : invoke({ Records: records });
}
