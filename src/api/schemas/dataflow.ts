import * as z from 'zod';
import { DATAFLOW_CODES } from '../../core/dataflow/check-dataflow.ts';
import type { Dataflow } from '../../engine/dataflow.ts';
import { JsonObjectValue } from './wire-values.ts';

/** Answer of the dataflow check of a draft or a version (http-api.md 4.2). */
export const DataflowBody = z.object({
  report: z.object({
    references_checked: z.int(),
    findings: z.array(
      z.object({
        code: z.enum(DATAFLOW_CODES),
        severity: z.enum(['warning', 'error']),
        consumer: z.string(),
        reference: z.string(),
        summary: z.string(),
      }),
    ),
    /** Findings beyond those that are listed; absent when all are. */
    findings_omitted: z.int().exactOptional(),
  }),
  generated: z.object({
    generator_version: z.string(),
    sequence_sha256: z.string(),
    schema: JsonObjectValue,
    typescript: z.string(),
    python: z.string(),
    swift: z.string(),
    kotlin: z.string(),
  }),
});

export function showDataflow({ report, generated }: Dataflow): z.infer<typeof DataflowBody> {
  const { referencesChecked, findings, omittedCount } = report;
  const { generatorVersion, sequenceSha256, schema, typescript, python, swift, kotlin } = generated;
  return {
    report: {
      references_checked: referencesChecked,
      findings: [...findings],
      ...(omittedCount === 0 ? {} : { findings_omitted: omittedCount }),
    },
    generated: {
      generator_version: generatorVersion,
      sequence_sha256: sequenceSha256,
      ...{ schema, typescript, python, swift, kotlin },
    },
  };
}
