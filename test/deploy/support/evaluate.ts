import { spawn } from 'node:child_process';
import { join } from 'node:path';
import * as z from 'zod';
import { PLATFORM, ROOT } from './tools.ts';

/** One resource as it would be registered, secrets in the clear. */
export interface Resource {
  readonly type: string;
  readonly name: string;
  readonly inputs: Readonly<Record<string, z.core.util.JSONType>>;
  /** Paths of the inputs that the state keeps encrypted. */
  readonly secrets: readonly string[];
  /** It leaves the state before another takes its place. */
  readonly deleteBeforeReplace: boolean;
  /** Names of the resources that have to be there before it, whatever its inputs say. */
  readonly after: readonly string[];
}

/** A change of a source, as a mistake would make it. `file` is relative to the root of the project. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Variant {
  readonly stage: string;
  readonly edits?: readonly Edit[];
}

export interface Evaluated {
  readonly app: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** In the order of registration. */
  readonly resources: readonly Resource[];
}

export interface EvaluateOptions {
  /** Folder of the sst.config.ts; default: the repository. */
  readonly root?: string;
  /** Functions are really bundled, into this folder. */
  readonly artifacts?: string;
  /** Values of secrets. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly variants: readonly Variant[];
}

const Answer = z.object({
  answers: z.array(
    z.union([
      z.object({
        ok: z.literal(true),
        app: z.record(z.string(), z.unknown()),
        outputs: z.record(z.string(), z.unknown()),
        resources: z.array(
          z.object({
            type: z.string(),
            name: z.string(),
            inputs: z.record(z.string(), z.json()),
            secrets: z.array(z.string()),
            deleteBeforeReplace: z.boolean(),
            after: z.array(z.string()),
          }),
        ),
      }),
      z.object({ ok: z.literal(false), error: z.string() }),
    ]),
  ),
});

/** Evaluates every variant of an sst.config.ts, see evaluate.mjs. Rejects with the first that cannot be evaluated. */
export async function evaluate(options: EvaluateOptions): Promise<readonly Evaluated[]> {
  const { root = ROOT, artifacts, secrets, variants } = options;
  const order = { root, platform: PLATFORM, artifacts: artifacts ?? null, variants };
  const environment = Object.entries(secrets).map(([name, value]) => [`SST_SECRET_${name}`, value]);
  const text = await outputOf([JSON.stringify(order)], Object.fromEntries(environment));
  return Answer.parse(JSON.parse(text)).answers.map((answer, index) => {
    if (!answer.ok)
      throw new Error(`${JSON.stringify(variants[index])} cannot be evaluated: ${answer.error}`);
    return answer;
  });
}

function outputOf(args: readonly string[], environment: Record<string, string>): Promise<string> {
  const program = join(import.meta.dirname, 'evaluate.mjs');
  return new Promise((settle, fail) => {
    const env = { ...process.env, ...environment, AWS_EC2_METADATA_DISABLED: 'true' };
    const child = spawn(process.execPath, [program, ...args], { env });
    const [out, errors]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (data) => out.push(data));
    child.stderr.on('data', (data) => errors.push(data));
    child.once('error', fail);
    child.once('close', (code) => {
      if (code === 0) settle(Buffer.concat(out).toString('utf8'));
      else
        fail(new Error(`the evaluation ended with code ${code}: ${Buffer.concat(errors).toString('utf8')}`));
    });
  });
}
