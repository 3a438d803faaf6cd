import { stripVTControlCharacters } from 'node:util';
import { type CommandDef, runCommand, runMain, type SubCommandsDef } from 'citty';
import type { Advice } from '../core/advice.ts';
import { nearestName } from '../core/definition/did-you-mean.ts';
import { showAdvice } from './command.ts';
import { systemTerminal } from './terminal.ts';
import { showUsage } from './usage.ts';

const BUILT_IN: ReadonlySet<string> = new Set(['--help', '-h', '--version', '-v']);

/**
 * Runs the command that the arguments name. A mistake in them is told in two lines as all others are, not behind a page of
 * help; `stepwell help <command>` is `stepwell <command> --help`.
 */
export async function runCli(
  main: CommandDef & { readonly subCommands: SubCommandsDef },
  given: readonly string[],
): Promise<void> {
  const rawArgs = given[0] === 'help' ? [...given.slice(1, 2), '--help'] : [...given];
  const [name] = rawArgs;
  const problem = name === undefined ? null : nameProblem(name, rawArgs, Object.keys(main.subCommands));
  if (problem !== null) return fail(problem);
  if (name === undefined || rawArgs.some((arg) => BUILT_IN.has(arg))) {
    return runMain(main, { showUsage, rawArgs: name === undefined ? ['--help'] : rawArgs });
  }
  try {
    await runCommand(main, { rawArgs });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'CLIError') throw error;
    fail(argumentAdvice(stripVTControlCharacters(error.message), name));
  }
}

function nameProblem(name: string, args: readonly string[], known: readonly string[]): Advice | null {
  if (known.includes(name) || BUILT_IN.has(name)) return null;
  if (name.startsWith('-')) {
    const next = `Name one before the flags, such as \`stepwell dev ${args.join(' ')}\`. All: \`stepwell --help\`.`;
    return { message: 'there is no command', next };
  }
  // Three letters of a long name are further away than a misspelling, and mean it all the same.
  const near = nearestName(name, known) ?? known.find((command) => command.startsWith(name));
  const hint = near === undefined ? '' : `Did you mean \`stepwell ${near}\`? `;
  return { message: `${name} is not a command`, next: `${hint}All commands: \`stepwell --help\`.` };
}

function argumentAdvice(message: string, command: string): Advice {
  const next = `See \`stepwell ${command} --help\`.`;
  const [, missing] = /^Missing required positional argument: (\S+)$/.exec(message) ?? [];
  if (missing !== undefined) {
    const word = missing.toLowerCase();
    return {
      message: `<${word}> is missing`,
      next: `Write it as \`stepwell ${command} <${word}>\`. ${next}`,
    };
  }
  return { message: message.replace(/\.$/, ''), next };
}

function fail(advice: Advice): void {
  showAdvice(advice, systemTerminal());
  process.exitCode = 1;
}
