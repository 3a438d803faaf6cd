import { mkdirSync, writeFileSync } from 'node:fs';
import { extname, join, posix, relative, sep } from 'node:path';
import { sequenceFiles } from '../src/adapters/local/sequence-files.ts';

/** Files that a function of the deployment is bundled from, as `file.export`, relative to the project's root. */
export interface Entries {
  readonly api: string;
  readonly stream: string;
  readonly turn: string;
  readonly sweep: string;
  readonly deadLetter: string;
  readonly deploy: string;
}

export interface EntryParts {
  /** Folder of the sst.config.ts. */
  readonly root: string;
  readonly name: string;
  readonly handlers?: string;
  readonly sequences?: string;
  readonly tenant?: string;
}

/**
 * Writes the entry of each function: ours, around the user's handlers. They are made anew by each deployment, in the folder that
 * sst keeps for itself.
 */
export function writeEntries(parts: EntryParts): Entries {
  const folder = join(parts.root, '.sst', 'stepwell', parts.name);
  mkdirSync(folder, { recursive: true });
  const write = (file: string, text: string): string => {
    writeFileSync(join(folder, `${file}.ts`), text);
    return `${posixPath(relative(parts.root, join(folder, file)))}.handler`;
  };
  const around = (file: string, create: string): string =>
    write(file, handlerEntry(parts, folder, file, create));
  return {
    api: around('api', 'createApiHandler'),
    stream: around('stream', 'createStreamHandler'),
    turn: around('turn', 'createTurnHandler'),
    sweep: around('sweep', 'createSweepHandler'),
    deadLetter: around('dead-letter', 'createDeadLetterHandler'),
    deploy: write('deploy', deployEntry(parts, folder)),
  };
}

function handlerEntry({ root, handlers }: EntryParts, folder: string, file: string, create: string): string {
  const imported = `import { ${create}, createAwsHost } from 'stepwell/aws/${file}';\n`;
  if (handlers === undefined) return `${imported}\nexport const handler = ${create}(createAwsHost());\n`;
  const path = importPath(folder, join(root, handlers));
  return `${imported}import * as handlers from '${path}';\n\nexport const handler = ${create}(createAwsHost({ handlers }));\n`;
}

function deployEntry({ root, sequences, tenant }: EntryParts, folder: string): string {
  const files = sequences === undefined ? [] : filesOf(join(root, sequences));
  const isJson = (file: string): boolean => extname(file) === '.json';
  const imports = files.map((file, index) => {
    const imported = isJson(file) ? `sequence${index}` : `* as sequence${index}`;
    return `import ${imported} from '${importPath(folder, file)}';\n`;
  });
  // Errors name the file, so it goes along.
  const named = files.map(
    (file, index) => `${JSON.stringify(posixPath(relative(root, file)))}: sequence${index}`,
  );
  const project = `{ sequenceFiles: { ${named.join(', ')} }${tenant === undefined ? '' : `, tenant: ${JSON.stringify(tenant)}`} }`;
  return `import { createDeployHandler } from 'stepwell/aws/deploy';\n${imports.join('')}\nexport const handler = createDeployHandler(${project});\n`;
}

function filesOf(path: string): readonly string[] {
  const files = sequenceFiles(path);
  if (!files.ok) throw new Error(`${files.error.message}. ${files.error.next}`);
  return files.value;
}

function importPath(folder: string, file: string): string {
  const path = posixPath(relative(folder, file));
  return path.startsWith('.') ? path : `./${path}`;
}

function posixPath(path: string): string {
  return path.split(sep).join(posix.sep);
}
