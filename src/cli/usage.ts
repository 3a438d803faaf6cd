import type { ArgDef, ArgsDef, CommandDef, CommandMeta, Resolvable, SubCommandsDef } from 'citty';
import { packageFacts } from './package-facts.ts';
import { createPalette, type Palette, wantsColour, wrapped } from './terminal.ts';

const COLUMNS_MAX = 100;
const COLUMNS_UNKNOWN = 80;

/** Name on the left, what it is on the right. */
type Row = readonly [name: string, about: string];

/** Prints the help of a command, or of all of them, as wide as the terminal. */
export async function showUsage<Args extends ArgsDef = ArgsDef>(
  command: CommandDef<Args>,
  parent?: CommandDef<Args>,
): Promise<void> {
  const columns = Math.min(process.stdout.columns ?? COLUMNS_UNKNOWN, COLUMNS_MAX);
  const palette = createPalette(wantsColour(process.env, process.stdout));
  const meta: CommandMeta = (await resolved(command.meta)) ?? {};
  const name = parent === undefined ? 'stepwell' : `stepwell ${meta.name ?? ''}`;
  const lines =
    command.subCommands === undefined
      ? commandUsage(name, meta, (await resolved<ArgsDef>(command.args)) ?? {}, columns, palette)
      : await mainUsage(name, meta, command.subCommands, columns, palette);
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

async function mainUsage(
  name: string,
  meta: CommandMeta,
  subCommands: Resolvable<SubCommandsDef>,
  columns: number,
  palette: Palette,
): Promise<readonly string[]> {
  const rows: Row[] = [];
  for (const [subName, lazy] of Object.entries((await resolved(subCommands)) ?? {})) {
    const sub: CommandDef | undefined = await resolved<CommandDef>(lazy);
    const about: CommandMeta = (await resolved(sub?.meta)) ?? {};
    if (about.hidden !== true) rows.push([subName, about.description ?? '']);
  }
  return [
    `${palette.bold('Stepwell')} ${packageFacts().version}  ${palette.dim(meta.description ?? '')}`,
    '',
    `Usage: ${name} <command> [options]`,
    '',
    ...table(rows, columns, palette),
    '',
    palette.dim(`${name} <command> --help says more about a command.`),
  ];
}

function commandUsage(
  name: string,
  meta: CommandMeta,
  args: ArgsDef,
  columns: number,
  palette: Palette,
): readonly string[] {
  const entries = Object.entries(args);
  const positionals = entries.filter(([, { type }]) => type === 'positional');
  const options = entries.filter(([, { type }]) => type !== 'positional');
  const words = positionals.map(([key, arg]) => (arg.required === false ? `[${key}]` : `<${key}>`));
  if (options.length > 0) words.push('[options]');
  const rows = [
    ...positionals.map(([key, arg]): Row => [key, arg.description ?? '']),
    ...options.map(
      ([key, arg]): Row => [
        arg.type === 'boolean' ? `--${key}` : `--${key} <${arg.valueHint ?? 'text'}>`,
        optionText(arg),
      ],
    ),
  ];
  return [
    meta.description ?? '',
    '',
    `Usage: ${[name, ...words].join(' ')}`,
    ...(rows.length === 0 ? [] : ['', ...table(rows, columns, palette)]),
  ];
}

function optionText({ description = '', default: standard }: ArgDef): string {
  return standard === undefined || standard === false
    ? description
    : `${description} (default: ${String(standard)})`;
}

function table(rows: readonly Row[], columns: number, palette: Palette): readonly string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.flatMap(([name, about]) => {
    const [first = '', ...rest] = wrapped(about, columns - width - 4);
    return [
      `  ${palette.cyan(name.padEnd(width))}  ${first}`,
      ...rest.map((line) => `${' '.repeat(width + 4)}${line}`),
    ];
  });
}

async function resolved<T>(value: Resolvable<T> | undefined): Promise<T | undefined> {
  return await (value instanceof Function ? value() : value);
}
