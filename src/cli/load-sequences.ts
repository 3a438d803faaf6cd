import { extname, relative } from 'node:path';
import { loadHandlersFile } from '../adapters/local/load-handlers.ts';
import { sequenceFiles } from '../adapters/local/sequence-files.ts';
import { systemClock } from '../adapters/system.ts';
import type { Advice } from '../core/advice.ts';
import type { JsonObject } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import { publishDrafts, type PublishDraftsDeps } from '../engine/publish-drafts.ts';
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

/** Each start is a deployment of its own. Answers a line for each version that is new. */
export async function publishLoaded(
  store: PublishDraftsDeps['store'],
  tenantId: string,
  drafts: readonly JsonObject[],
): Promise<Result<readonly string[], Advice>> {
  const lines: string[] = [];
  for (const outcome of await publishDrafts({ store, clock: systemClock }, tenantId, drafts)) {
    if (outcome.outcome === 'refused') {
      const message = `the sequence ${outcome.name} was not published: ${outcome.problem}`;
      return err({ message, next: 'Correct the document; those before it are published.' });
    }
    if (outcome.outcome === 'published') lines.push(`Published ${outcome.name} version ${outcome.version}.`);
  }
  return ok(lines);
}
