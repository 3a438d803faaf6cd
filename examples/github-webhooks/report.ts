import { colouredState, drawTree } from '../../src/cli/show/tree.ts';
import type { EngineApi, Instance } from './engine-api.ts';
import { type Narrator, shortId } from './narrator.ts';
import { eventName } from './payloads.ts';
import type { Findings, Run } from './verify.ts';

/** What the run of the example came to, as `--json` prints it. */
export interface Summary {
  readonly ok: boolean;
  readonly seed: number;
  readonly database: 'embedded' | 'postgresql';
  readonly runs: number;
  readonly kills: number;
  readonly seconds: number;
  readonly findings: Findings;
  /** Command that repeats this run. */
  readonly repeat: string;
}

/** The tree of the run that shows most: a pull request has parallel checks, a gate and a decision. */
export async function printTree(runs: readonly Run[], api: EngineApi, narrator: Narrator): Promise<void> {
  const rank = ({ delivery }: Run) => ['pull_request', 'issue', 'push', 'other'].indexOf(delivery.route);
  const [run] = runs.toSorted((left, right) => rank(left) - rank(right));
  if (run === undefined) return;
  const nodes = await api.tree(run.instanceId);
  const { bold, dim } = narrator.palette;
  narrator.line('');
  narrator.line(
    `${bold(`Run ${shortId(run.instanceId)}`)} ${dim(`${eventName(run.delivery.payload)} ${run.instanceId}`)}`,
  );
  narrator.line('');
  for (const line of drawTree(nodes, narrator.palette)) narrator.line(`  ${line}`);
}

export function printRuns(runs: readonly Run[], instances: readonly Instance[], narrator: Narrator): void {
  const stateOf = new Map(instances.map(({ id, state }) => [id, state]));
  narrator.line('');
  for (const { delivery, instanceId } of runs) {
    const event = eventName(delivery.payload).padEnd(32);
    const state = colouredState(stateOf.get(instanceId) ?? 'missing', narrator.palette);
    const verdict =
      delivery.route === 'pull_request' ? narrator.palette.dim(`  a person said ${delivery.verdict}`) : '';
    narrator.line(`  ${shortId(instanceId)}  ${event} ${state}${verdict}`);
  }
}

export function printSummary(summary: Summary, narrator: Narrator): void {
  const { bold, dim, green, red } = narrator.palette;
  const { findings } = summary;
  const mark = (holds: boolean) => (holds ? green('✔') : red('✖'));
  narrator.line('');
  narrator.line(
    `${mark(findings.completedCount === summary.runs)} ${findings.completedCount} of ${summary.runs} runs completed, ` +
      `with the engine killed ${summary.kills} times ${dim(`(${summary.seconds} s, ${summary.database})`)}`,
  );
  narrator.line(
    `${mark(summary.ok)} ${findings.effectCount} HTTP effects in ${findings.callCount} calls, ` +
      `each seen with exactly one idempotency key ${dim(`(${findings.savedCount} were asked for again)`)}`,
  );
  for (const violation of findings.violations) narrator.line(`${red('✖')} ${violation}`);
  narrator.line('');
  narrator.line(dim(`Again the same: ${bold(summary.repeat)}`));
}
