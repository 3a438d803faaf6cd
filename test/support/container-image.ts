import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';

/** The last stage of a Dockerfile, carried out as far as that goes without a container. */
export interface ContainerImage {
  /** The folder that stands for the working folder of the container. */
  readonly workFolder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  readonly user: string;
  readonly stopSignal: string;
  /** Deletes all that was built. */
  remove(): void;
}

interface Stage {
  readonly root: string;
  workdir: string;
  env: Record<string, string>;
  readonly said: Map<string, string>;
}

const REPOSITORY = resolve(import.meta.dirname, '../..');
const Argv = z.array(z.string()).min(1);
const Lock = z.object({ packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })) });
const execute = promisify(execFile);

/**
 * Builds the Dockerfile of the repository: each stage is a folder, COPY copies from what .dockerignore lets through, RUN runs in
 * it. Only `npm ci` is played, by links to the installed packages, so that nothing is downloaded.
 */
export async function buildImage(): Promise<ContainerImage> {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-image-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const stages = new Map<string, Stage>();
    let stage = newStage(folder, 'none');
    for (const [keyword, rest] of instructionsOf(readFileSync(join(REPOSITORY, 'Dockerfile'), 'utf8'))) {
      if (keyword === 'FROM') {
        const name = /\bAS (\S+)$/i.exec(rest)?.[1] ?? 'last';
        stage = newStage(folder, name);
        stages.set(name, stage);
      } else await carryOut(stage, keyword, rest, stages);
    }
    return { ...describeImage(stage), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function newStage(folder: string, name: string): Stage {
  const root = join(folder, name);
  mkdirSync(root);
  return { root, workdir: root, env: {}, said: new Map() };
}

function describeImage({ workdir, env, said }: Stage): Omit<ContainerImage, 'remove'> {
  const argv = (text = '[]'): readonly string[] => Argv.parse(JSON.parse(text));
  return {
    workFolder: workdir,
    env,
    entrypoint: argv(said.get('ENTRYPOINT')),
    command: argv(said.get('CMD')),
    healthCheck: argv(said.get('HEALTHCHECK')?.replace(/^.*?CMD /, '')),
    user: said.get('USER') ?? 'root',
    stopSignal: said.get('STOPSIGNAL') ?? '',
  };
}

function instructionsOf(text: string): readonly (readonly [string, string])[] {
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  return lines.flatMap((line) => {
    const [, keyword, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (keyword !== undefined && rest !== undefined) return [[keyword, rest] as const];
    if (line.trim() !== '') throw new Error(`no instruction: ${line}`);
    return [];
  });
}

async function carryOut(
  stage: Stage,
  keyword: string,
  rest: string,
  stages: ReadonlyMap<string, Stage>,
): Promise<void> {
  switch (keyword) {
    case 'WORKDIR':
      stage.workdir = join(stage.root, rest);
      mkdirSync(stage.workdir, { recursive: true });
      return;
    case 'COPY':
      copy(stage, rest, stages);
      return;
    case 'RUN':
      await (rest.startsWith('npm ci') ? linkPackages(stage, rest) : run(stage, rest));
      return;
    case 'ENV': {
      const [name = '', value = ''] = rest.split('=');
      stage.env = { ...stage.env, [name]: value };
      return;
    }
    default:
      stage.said.set(keyword, rest);
  }
}

function copy(stage: Stage, rest: string, stages: ReadonlyMap<string, Stage>): void {
  const [, from, list = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(rest) ?? [];
  const words = list.split(' ');
  const target = words.at(-1) ?? '';
  for (const word of words.slice(0, -1)) {
    const sources = from === undefined ? [inContext(word)] : inStage(stages.get(from), word);
    if (sources.length === 0) throw new Error(`COPY finds no ${word}`);
    for (const source of sources) {
      const to = join(stage.workdir, target, target.endsWith('/') ? basename(source) : '');
      mkdirSync(dirname(to), { recursive: true });
      cpSync(source, to, { recursive: true, verbatimSymlinks: true });
    }
  }
}

/** What the build is sent: `.dockerignore` leaves everything out and lets some names of the first level in again. */
function inContext(word: string): string {
  const lines = readFileSync(join(REPOSITORY, '.dockerignore'), 'utf8').split('\n');
  const [first, ...others] = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (first !== '*') throw new Error('.dockerignore lets everything in');
  const [top = ''] = word.replace(/^\.\//, '').split('/');
  const source = join(REPOSITORY, word);
  if (!others.includes(`!${top}`) || !existsSync(source)) throw new Error(`the build is not sent ${word}`);
  return source;
}

function inStage(stage: Stage | undefined, word: string): readonly string[] {
  if (stage === undefined) throw new Error(`COPY from a stage that is not there: ${word}`);
  const folder = join(stage.root, dirname(word));
  const [before = '', after] = basename(word).split('*');
  const fits = (name: string): boolean =>
    after === undefined ? name === before : name.startsWith(before) && name.endsWith(after);
  return readdirSync(folder).flatMap((name) => (fits(name) ? [join(folder, name)] : []));
}

async function run(stage: Stage, command: string): Promise<void> {
  await execute('sh', ['-c', command], { cwd: stage.workdir });
}

/** The packages that the lock file of the stage wants, without those for development where they are left out. */
function linkPackages(stage: Stage, command: string): void {
  const withoutDev = command.includes('--omit=dev');
  const lock = Lock.parse(JSON.parse(readFileSync(join(stage.workdir, 'package-lock.json'), 'utf8')));
  for (const [path, { dev = false }] of Object.entries(lock.packages)) {
    const isTop = /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path);
    // A package for another platform is not installed.
    if (!isTop || (dev && withoutDev) || !existsSync(join(REPOSITORY, path))) continue;
    mkdirSync(dirname(join(stage.workdir, path)), { recursive: true });
    symlinkSync(join(REPOSITORY, path), join(stage.workdir, path));
  }
  if (!withoutDev)
    symlinkSync(join(REPOSITORY, 'node_modules/.bin'), join(stage.workdir, 'node_modules/.bin'));
}
