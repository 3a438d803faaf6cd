import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from 'citty';
import type { Advice } from '../core/advice.ts';
import { nearestName } from '../core/definition/did-you-mean.ts';
import type { Result } from '../core/result.ts';
import { systemTerminal, type Terminal, wrapped } from './terminal.ts';

/** What a command came to: nothing more to say, or what went wrong and what to do next. */
export type CommandResult = Result<null, Advice>;

interface CommandSpec<Args extends ArgsDef> {
  readonly name: string;
  readonly description: string;
  readonly hidden?: boolean;
  readonly args: Args;
  readonly run: (args: ParsedArgs<Args>, terminal: Terminal) => Promise<CommandResult>;
}

/**
 * A command of `stepwell`. Misspelt flags are refused (the parser would drop them, and `--prot 80` would listen on
 * another port than asked for), advice goes to standard error, and the exit code is 0 or 1.
 */
export function defineCliCommand<const Args extends ArgsDef>(spec: CommandSpec<Args>): CommandDef<Args> {
  return defineCommand({
    meta: { name: spec.name, description: spec.description, hidden: spec.hidden ?? false },
    args: spec.args,
    run: async ({ args }) => {
      const terminal = systemTerminal();
      const problem = argumentProblem(args, spec.args);
      const result: CommandResult =
        problem === null ? await spec.run(args, terminal) : { ok: false, error: problem };
      if (result.ok) return;
      showAdvice(result.error, terminal);
      process.exitCode = 1;
    },
  });
}

const ADVICE_INDENT = ' '.repeat(6);

/** What is wrong, and below it what to do next; to standard error. */
export function showAdvice(advice: Advice, terminal: Terminal): void {
  const { red, dim } = terminal.palette;
  terminal.note(`${red('Error')} ${advice.message}`);
  // Only a terminal has columns: what goes to a file or a pipe keeps its lines.
  const width = (process.stderr.columns ?? Number.POSITIVE_INFINITY) - ADVICE_INDENT.length;
  const lines = advice.next.split('\n').flatMap((line) => wrapped(line, width));
  for (const line of lines) terminal.note(dim(`${ADVICE_INDENT}${line}`));
}

function argumentProblem(args: Readonly<Record<string, unknown>>, known: ArgsDef): Advice | null {
  const flags = Object.entries(known).filter(([, { type }]) => type !== 'positional');
  const names = flags.map(([name]) => name);
  const spellings = new Set(names.flatMap((name) => [name, camelCase(name)]));
  const positionals = Object.keys(known).filter((name) => !names.includes(name));
  const unknown = Object.keys(args).find(
    (name) => name !== '_' && !spellings.has(name) && !positionals.includes(name),
  );
  if (unknown !== undefined) {
    const near = nearestName(unknown, names);
    const others = `The flags are ${names.map((name) => `--${name}`).join(', ')}.`;
    return {
      message: `--${unknown} is not a flag of this command`,
      next: near === undefined ? others : `Did you mean --${near}?`,
    };
  }
  const given = args['_'];
  if (Array.isArray(given) && given.length > positionals.length) {
    return {
      message: `there is an argument too many: ${String(given[positionals.length])}`,
      next: 'Put quotes around arguments with blanks in them. See --help.',
    };
  }
  return null;
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
