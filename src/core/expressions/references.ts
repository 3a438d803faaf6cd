import type { Json } from '../json.ts';
import { expressionPaths } from './expression-paths.ts';
import { parseExpression } from './parse-expression.ts';
import { parseTemplate } from './parse-template.ts';
import type { Path } from './paths.ts';
import { templatePaths } from './template-paths.ts';
import { templateStrings } from './template-strings.ts';

/**
 * The block ids and the state keys that a text can read; `all` when it uses the whole root or a key that is known only
 * at run time. What is not named here need not be loaded.
 */
export interface References {
  readonly outputs: ReadonlySet<string> | 'all';
  readonly state: ReadonlySet<string> | 'all';
}

/** What an expression can read. A text that does not parse refers to nothing. Never throws. */
export function expressionReferences(text: string): References {
  const parsed = parseExpression(text);
  return referencesOf(parsed.ok ? expressionPaths(parsed.value) : []);
}

/** What the templates in a JSON value can read. A string that does not parse refers to nothing. Never throws. */
export function templateReferences(value: Json): References {
  const paths = templateStrings(value).flatMap(({ text }) => {
    const parsed = parseTemplate(text);
    return parsed.ok ? templatePaths(parsed.value) : [];
  });
  return referencesOf(paths);
}

function referencesOf(paths: readonly Path[]): References {
  return { outputs: namesUnder('outputs', paths), state: namesUnder('state', paths) };
}

/** The first names below a root; a path that is the root itself reads all of them. */
function namesUnder(root: Path['root'], paths: readonly Path[]): ReadonlySet<string> | 'all' {
  const names = paths.filter((path) => path.root === root).map((path) => path.segments[0]);
  return names.includes(undefined) ? 'all' : new Set(names.filter((name) => name !== undefined));
}
