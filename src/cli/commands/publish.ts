import * as z from 'zod';
import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { systemClock, systemEntropy } from '../../adapters/system.ts';
import { createIdSource } from '../../engine/ids.ts';
import type { ApiClient } from '../client/api-client.ts';
import { connect, connectionArgs, nextCommand } from '../client/connection.ts';
import { PublishedBody } from '../../api/schemas/sequence.ts';
import { SequenceAnswer } from '../client/schemas.ts';
import { defineCliCommand } from '../command.ts';
import { readJsonFile } from '../read-json.ts';
import { printable } from '../terminal.ts';

/** What must be known to fill in the rest; the server checks the document itself. */
const Draft = z.looseObject({
  name: z.string(),
  namespace: z.string().default('default'),
  tenant_id: z.string().optional(),
  version: z.json().optional(),
});

/** Publishes a document; what a person need not write (id, tenant, namespace, version, time) is filled in. */
export default defineCliCommand({
  name: 'publish',
  description: 'Publish a sequence from a JSON file.',
  args: {
    file: { type: 'positional', description: 'The document.', required: true },
    ...connectionArgs,
  },
  run: async (args, terminal) => {
    const file = readJsonFile(args.file);
    if (!file.ok) return file;
    const draft = Draft.safeParse(file.value);
    if (!draft.success) {
      return err({
        message: `${args.file} is no sequence`,
        next: 'It must hold one JSON object with at least name (a text) and blocks (a list).',
      });
    }
    const client = connect(args);
    if (!client.ok) return client;
    const tenant = draft.data.tenant_id ?? args.tenant;
    const version = await versionOf(client.value, draft.data, tenant);
    if (!version.ok) return version;
    const document = z.json().parse({
      id: createIdSource(systemClock, systemEntropy).newId(),
      created_at: new Date(systemClock.nowMs()).toISOString(),
      ...draft.data,
      tenant_id: tenant,
      version: version.value,
    });
    const answer = await client.value.post('/sequences', document, PublishedBody);
    if (!answer.ok) return answer;
    if (args.json) {
      terminal.out(JSON.stringify(answer.value));
      return ok(null);
    }
    const { green, bold, dim, yellow } = terminal.palette;
    const name = printable(draft.data.name);
    terminal.out(
      `${green('Published')} ${bold(name)} version ${String(version.value)} ${dim(answer.value.id)}`,
    );
    for (const warning of answer.value.warnings ?? []) {
      terminal.out(`${yellow('Warning')} ${printable(warning)}`);
    }
    terminal.out(dim(`Next: ${nextCommand(`start ${name} --data '{}'`, args.url)}`));
    return ok(null);
  },
});

/** The document's version, else one more than the newest version that is not deprecated, else 1. */
async function versionOf(
  client: ApiClient,
  draft: z.infer<typeof Draft>,
  tenant: string,
): Promise<Result<unknown, Advice>> {
  if (draft.version !== undefined) return ok(draft.version);
  const query = new URLSearchParams({ tenant_id: tenant, namespace: draft.namespace, name: draft.name });
  const versions = await client.get(`/sequences/versions?${query.toString()}`, SequenceAnswer.array());
  if (!versions.ok) return versions;
  return ok(Math.max(0, ...versions.value.map(({ version }) => version)) + 1);
}
