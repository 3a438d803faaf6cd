import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { printable } from '../../src/cli/terminal.ts';
import type { EngineApi } from './engine-api.ts';
import { type Narrator, shortId } from './narrator.ts';

const LOOKS_EVERY_MS = 200;

/**
 * The person who approves: looks at the list of open approvals and answers each with what `verdictFor` says (null: not
 * yet). The signal id makes a repeated answer harmless. Ends when `signal` is aborted.
 */
export async function approve(
  namespace: string,
  api: EngineApi,
  narrator: Narrator,
  verdictFor: (instanceId: string) => string | null,
  signal: AbortSignal,
): Promise<void> {
  const signalIds = new Map<string, string>();
  while (!signal.aborted) {
    for (const approval of await api.approvals(namespace)) {
      const { instance_id: instanceId, block_id: blockId, prompt } = approval;
      const verdict = verdictFor(instanceId);
      if (verdict === null || signalIds.has(instanceId)) continue;
      const signalId = randomUUID();
      signalIds.set(instanceId, signalId);
      const { magenta, bold } = narrator.palette;
      narrator.say(
        'person',
        `run ${shortId(instanceId)} asks: ${magenta(printable(prompt))} ${bold(verdict)}`,
      );
      await api.signal(instanceId, {
        signal_type: { custom: `human_input:${blockId}` },
        payload: { value: verdict, comment: 'said the example' },
        signal_id: signalId,
      });
    }
    await delay(LOOKS_EVERY_MS);
  }
}
