/** Something that stops a publish. `rule` is the tag of the broken rule, absent for shape errors. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  readonly rule?: string;
  readonly block_id?: string;
}

/**
 * Why a document is refused: 422 for a wrong shape ([PUB-2]), 400 for a broken limit or a bad schema ([PUB-3], [PUB-4]).
 * `message` names the first problem and is sent without the prefix of its status; `details` lists all, at most 100.
 */
export interface DocumentError {
  readonly status: 400 | 422;
  readonly message: string;
  readonly details: readonly Problem[];
}

/** Most problems a reply lists ([PUB-3]). */
export const MAX_PROBLEMS = 100;

/** The error of a list of problems, of which there is at least one. */
export function documentError(status: 400 | 422, problems: readonly Problem[]): DocumentError {
  const message = problems.slice(0, 1).map(describe).join('');
  return { status, message, details: problems.slice(0, MAX_PROBLEMS) };
}

function describe(problem: Problem): string {
  const subject = problem.block_id === undefined ? '' : `block '${problem.block_id}': `;
  const rule = problem.rule === undefined ? '' : ` (${problem.rule})`;
  const place = problem.path === '' ? '' : ` at ${problem.path}`;
  return `${subject}${problem.message}${rule}${place}`;
}
