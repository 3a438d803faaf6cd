import { extname, relative } from 'node:path';
import { loadHandlersFile } from '../adapters/local/load-handlers.ts';
import { sequenceFiles } from '../adapters/local/sequence-files.ts';
import { systemClock } from '../adapters/system.ts';
import type { Advice } from '../core/advice.ts';
import type { Warning } from '../core/definition/warning.ts';
import type { JsonObject } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import { draftWarnings, publishDrafts, type PublishDraftsDeps } from '../engine/publish-drafts.ts';
import type { WarningDeps } from '../engine/publish-sequence.ts';
import { collectSequences, type SequenceSource } from '../sdk/collect-sequences.ts';
import { readJsonFile } from './read-json.ts';

/** The sequences of a file, or of a folder and its subfolders, as a deployment reads them. */
export async function loadSequences(path: string): Promise<Result<readonly JsonObject[], Advice>> {
  const files = sequenceFiles(path);
  if (!files.ok) return files;
  const sources: SequenceSource[] = [];
  for (const file of files.value) {
    const content = extname(file) === '.json' ? readJsonFile(file) : await loadHandlersFile(file);
    if (!content.ok) return content;
    sources.push({ file: relative('', file), content: content.value });
  }
  return collectSequences(sources);
}

interface PublishLoadedDeps extends WarningDeps {
  readonly store: PublishDraftsDeps['store'] & WarningDeps['store'];
}

/** Tells what looks wrong in the sequence of this name. */
export type OnWarning = (sequenceName: string, warning: Warning) => void;

/**
 * Each start is a deployment of its own. Answers a line for each version that is new. What looks wrong is told at each
 * start, also of a version that is there already.
 */
export async function publishLoaded(
  deps: PublishLoadedDeps,
  tenantId: string,
  drafts: readonly JsonObject[],
  onWarning: OnWarning,
): Promise<Result<readonly string[], Advice>> {
  const lines: string[] = [];
  const outcomes = await publishDrafts({ store: deps.store, clock: systemClock }, tenantId, drafts);
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.outcome === 'refused') {
      const message = `the sequence ${outcome.name} was not published: ${outcome.problem}`;
      return err({ message, next: 'Correct the document; those before it are published.' });
    }
    const draft = drafts[index];
    const warnings = draft === undefined ? [] : await draftWarnings(systemClock, deps, draft);
    for (const warning of warnings) onWarning(outcome.name, warning);
    if (outcome.outcome === 'published') lines.push(`Published ${outcome.name} version ${outcome.version}.`);
  }
  return ok(lines);
}
