import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CliResult, runCli, type ServerProcess, startServer } from '../support/cli-process.ts';
import { waitUntil } from '../support/wait-until.ts';

// Real processes on a busy machine take their time.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

let cwd: string;
let server: ServerProcess;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'stepwell-client-'));
  server = await startServer(['dev'], { cwd, env: { STEPWELL_DATABASE_URL: 'pglite:memory' } });
  const gate = { type: 'step', id: 'agree', handler: 'noop', wait_for_input: { prompt: 'Send it?' } };
  const typo = { type: 'step', id: 'say', handler: 'logg', params: {} };
  writeFileSync(join(cwd, 'ask.json'), JSON.stringify({ name: 'ask', blocks: [gate] }));
  writeFileSync(join(cwd, 'typo.json'), JSON.stringify({ name: 'typo', blocks: [typo] }));
  writeFileSync(join(cwd, 'empty.json'), JSON.stringify({ name: 'empty', blocks: [] }));
  writeFileSync(join(cwd, 'list.json'), '[]');
});

afterAll(async () => {
  await server.end('SIGKILL');
  rmSync(cwd, { recursive: true, force: true });
});

function stepwell(...args: readonly string[]): Promise<CliResult> {
  return runCli([...args, '--url', server.url], { cwd });
}

async function startedId(): Promise<string> {
  await stepwell('publish', 'ask.json');
  const { stdout } = await stepwell('start', 'ask', '--data', '{"who": "Ada"}', '--json');
  return JSON.parse(stdout).id;
}

describe('the client commands', () => {
  it('check a document without publishing it, and print its types', async () => {
    const { stdout, code } = await stepwell('check', 'ask.json');
    expect(stdout).toMatch(
      /^ask version 1\n✔ structure is valid definition_valid\n[\s\S]*Next: npx stepwell publish ask.json/,
    );
    expect(code).toBe(0);
    const typo = await stepwell('check', 'typo.json');
    expect([typo.code, typo.stdout]).toEqual([
      1,
      expect.stringContaining("handler 'logg' has no live worker"),
    ]);
    expect(typo.stderr).toContain('1 of 11 checks did not pass');
    const types = await stepwell('types', 'ask.json', '--language', 'kotlin');
    expect(types.stdout).toContain('val agree: JsonElement,');
    expect((await stepwell('types', 'ask.json')).stdout).toMatch(/^export type SequenceInput = unknown;\n/);
    expect((await stepwell('types', 'ask.json', '--language', 'cobol')).stderr).toContain(
      'no types for cobol',
    );
  });

  it('publish a document with the parts filled in that nobody wants to write, version by version', async () => {
    expect((await stepwell('publish', 'ask.json')).stdout).toMatch(
      /^Published ask version 1 [0-9a-f-]{36}\nNext: /,
    );
    const second = (await stepwell('publish', 'ask.json')).stdout;
    expect(second).toContain('Published ask version 2');
    // The number of a version that was deprecated is taken.
    const id = /[0-9a-f-]{36}/.exec(second)?.[0];
    await fetch(`${server.url}/api/v1/sequences/${id}/deprecate`, { method: 'POST' });
    expect((await stepwell('publish', 'ask.json')).stdout).toContain('Published ask version 3');
  });

  it('take modules and folders by the rules of `stepwell dev --sequences`', async () => {
    const step = "{ type: 'step', id: 'only', handler: 'noop' }";
    mkdirSync(join(cwd, 'many/deep'), { recursive: true });
    writeFileSync(
      join(cwd, 'many/two.ts'),
      `const step: object = ${step};
       export const one = { name: 'one', blocks: [step] };
       export const two = { name: 'two', blocks: [step] };`,
    );
    writeFileSync(
      join(cwd, 'many/deep/three.json'),
      '{"name": "three", "blocks": []}'.replace('[]', '[{"type":"step","id":"a","handler":"noop"}]'),
    );
    const published = await stepwell('publish', 'many/two.ts');
    expect(published.stdout).toMatch(/^Published one version 1 \S+\nPublished two version 1 \S+\nNext: /);
    expect((await stepwell('check', 'many/two.ts')).stdout).toMatch(
      /^one version 2\n[\s\S]*\ntwo version 2\n/,
    );
    expect((await stepwell('publish', 'many')).stdout).toMatch(/three version 1 [\s\S]*two version 2/);
    expect((await stepwell('types', 'many')).stderr).toContain('--sequence: three, one, two');
    expect((await stepwell('types', 'many', '--sequence', 'two')).stdout).toContain(
      'export type SequenceInput',
    );
    writeFileSync(join(cwd, 'none.mjs'), 'export const helper = 1;');
    expect((await stepwell('publish', 'none.mjs')).stderr).toContain('none.mjs: no sequence is exported');
  });

  it('show the warnings of the publisher', async () => {
    const { stdout } = await stepwell('publish', 'typo.json');
    expect(stdout).toMatch(/Warning typo, block 'say': handler 'logg' .*'log'\? at blocks\[0\]\.handler\n/);
  });

  it('start, show, explain and draw an instance, and answer its question', async () => {
    const id = await startedId();
    expect((await stepwell('get', id)).stdout).toMatch(/state +waiting[\s\S]*"who": "Ada"/);
    expect((await stepwell('explain', id)).stdout).toContain('agree');
    expect((await stepwell('tree', id)).stdout).toMatch(/^◷ agree +step +waiting for input/);
    const typo = await stepwell('signal', id, 'human_input:agre', '{"value": "yes"}');
    const hint = "there is no block 'agre', so nothing waits for it; did you mean 'human_input:agree'?";
    expect(typo.stdout).toMatch(/^Accepted human_input:agre /);
    expect(typo.stdout).toContain(`Without effect: ${hint}`);
    expect((await stepwell('explain', id)).stdout).toContain(hint);
    const wrong = await stepwell('signal', id, 'human_input:agree', '{"value": "yse"}');
    const why = "'agree' takes no such answer: its 'value' was none of yes, no";
    expect(wrong.stdout).toMatch(/^Accepted human_input:agree /);
    expect(wrong.stdout).toContain(`Without effect: ${why}`);
    const answer = await stepwell('signal', id, 'human_input:agree', '{"value": "yes"}');
    expect(answer.stdout).toMatch(/^Accepted human_input:agree \S+\n$/);
    expect((await stepwell('tree', id)).stdout).toContain('✔ agree');
  });

  it('list instances by state and sequence, and end the sleep of one', async () => {
    const nap = { type: 'step', id: 'nap', handler: 'sleep', params: { duration_ms: 86_400_000 } };
    writeFileSync(join(cwd, 'nap.json'), JSON.stringify({ name: 'nap', blocks: [nap] }));
    await stepwell('publish', 'nap.json');
    const { id } = JSON.parse((await stepwell('start', 'nap', '--json')).stdout);
    const asked = await startedId();
    expect((await stepwell('list', '--sequence', 'nap')).stdout).toMatch(
      new RegExp(`^INSTANCE .*\\n${id}  running .* nap v1\\n    asleep at nap until [^\\n]*Z\\n$`),
    );
    expect((await stepwell('tree', id)).stdout).toMatch(/running asleep until \S+Z\n$/);
    expect((await stepwell('get', id)).stdout).toMatch(/Block 'nap' sleeps until[\s\S]*sequence +nap v1/);
    const none = await stepwell('list', '--sequence', 'nap', '--state', 'waiting');
    expect(none.stderr).toContain('There are none.\nRuns that wait for a time are scheduled');
    expect((await stepwell('list', '--limit', '1')).stdout).toContain('There are more');
    expect((await stepwell('list', '--state', 'failed,cancelled')).stderr).toContain('There are none');
    expect((await stepwell('wake', id, '--node', 'zzz')).stderr).toContain('there is no block zzz');
    expect((await stepwell('tree', id, '--ids')).stdout).toMatch(/ [0-9a-f-]{36}\n$/);
    const woken = await stepwell('wake', id, '--node', 'nap');
    expect(woken.stdout).toMatch(/^Woken sleep nap was to end /);
    expect((await stepwell('wake', asked)).stdout).toContain('waits for no time');
    const odd = await stepwell('list', '--state', 'asleep');
    expect([odd.code, odd.stderr]).toEqual([1, expect.stringContaining('state')]);
  });

  it('show what an instance failed of, say how to retry it, and do so', async () => {
    const fail = { type: 'step', id: 'pay', handler: 'fail', params: { message: 'the card was declined' } };
    writeFileSync(join(cwd, 'pay.json'), JSON.stringify({ name: 'pay', blocks: [fail] }));
    await stepwell('publish', 'pay.json');
    const { id } = JSON.parse((await stepwell('start', 'pay', '--json')).stdout);
    await waitUntil('it has failed', async () =>
      (await stepwell('list', '--state', 'failed')).stdout.includes('    pay: the card was declined\n'),
    );
    const late = await stepwell('signal', id, 'retry');
    expect(late.stderr).toContain(`\`stepwell retry ${id}\` puts it back to work`);
    expect((await stepwell('retry', id)).stdout).toMatch(new RegExp(`^Back to work ${id}\n`));
    const asked = await startedId();
    expect((await stepwell('retry', asked)).stderr).toContain('Only a failed instance can be retried');
  });

  it('preview a move to another version, and make it', async () => {
    const id = await startedId();
    const published = await stepwell('publish', 'typo.json');
    const target = /[0-9a-f-]{36}/.exec(published.stdout)?.[0] ?? '';
    const { stdout } = await stepwell('migrate-instance', id, target, '--preview');
    expect(stdout).toMatch(
      /Dropped 1\n +- agree +waiting, cancels its gate not in the target\nNew 1\n +\+ say +pending/,
    );
    expect((await stepwell('migrate-instance', id, target)).stdout).toContain(`Moved ${id} to ${target}`);
    expect((await stepwell('tree', id)).stdout).toContain('say');
    const late = await stepwell('migrate-instance', id, '5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44');
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('not found')]);
  });

  it('start the first instance again for a known key', async () => {
    await stepwell('publish', 'ask.json');
    const first = await stepwell('start', 'ask', '--key', 'k1', '--json');
    const second = await stepwell('start', 'ask', '--key', 'k1');
    expect(second.stdout).toContain(`Known key ${JSON.parse(first.stdout).id}`);
  });

  it.each([
    [['publish', 'missing.json'], 'missing.json cannot be read', 'relative to this folder'],
    [['publish', 'list.json'], 'list.json is no sequence', 'name (a text) and blocks'],
    [['publish', 'empty.json'], 'blocks', 'Correct it'],
    [['start', 'nobody'], 'not found', '--tenant'],
    [['start', 'aks'], 'not found: sequence aks', 'Did you mean ask?'],
    [['list', '--limit', '5000'], '--limit must be a whole number from 1 to 1000', 'next_cursor'],
    [['list', '--limit', '0'], '--limit must be a whole number from 1 to 1000', 'next_cursor'],
    [['list', '--sequence', 'aks'], 'there is no sequence aks in tenant default', 'Did you mean ask?'],
    [['list', '--state', 'wating'], 'wating is no state', 'scheduled, running, waiting'],
    [['start', 'ask', '--data', '{oops'], '--data is not JSON', 'Quote it'],
    [['start', 'ask', '--data', '[]'], '--data is not a JSON object', '{"key": "value"}'],
    [['get', 'no-uuid'], 'invalid argument', '`stepwell list` print them'],
    [['get', '00000000-0000-7000-8000-000000000000'], 'not found', '--tenant'],
    [['tree', 'x', 'y'], 'an argument too many: y', '--help'],
    [['get', 'x', '--tennant', 'a'], '--tennant is not a flag', 'Did you mean --tenant?'],
    [['signal', 'x', 'cancel', '{'], 'the payload is not JSON', 'Quote it'],
  ])('say what is wrong and what to do next: %j', async (args, problem, next) => {
    const { code, stdout, stderr } = await stepwell(...args);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(problem);
    expect(stderr).toContain(next);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('name the next command for the same server, and take its address as the start screen shows it', async () => {
    const published = await runCli(['publish', 'ask.json', '--url', `${server.url}/api/v1/`], { cwd });
    expect(published.stdout).toContain(`Next: npx stepwell start ask --data '{}' --url ${server.url}`);
    expect(published.code).toBe(0);
  });

  it('say where a file is no JSON, and list all problems of a document once', async () => {
    writeFileSync(join(cwd, 'syntax.json'), '{\n  "name": "x",\n}');
    expect((await stepwell('publish', 'syntax.json')).stderr).toContain(
      'is not JSON: it has an unexpected character, line 3, column 1',
    );
    const blocks = [
      { type: 'stpe', id: 'a' },
      { type: 'step', id: 'b' },
    ];
    writeFileSync(join(cwd, 'problems.json'), JSON.stringify({ name: 'problems', blocks }));
    const { stderr } = await stepwell('publish', 'problems.json');
    expect(stderr).toContain(
      'Error unprocessable entity: 2 problems\n      blocks[0].type: unknown block type',
    );
    expect(stderr).toContain('\n      blocks[1].handler: missing field');
  });

  it('say how to start a server when there is none', async () => {
    const { code, stderr } = await runCli(['get', 'x', '--url', 'http://127.0.0.1:9'], { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain('no server answers at http://127.0.0.1:9');
    expect(stderr).toContain('stepwell dev');
  });
});
