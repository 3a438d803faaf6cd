import { once } from 'node:events';
import { createServer } from 'node:http';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCli, type ServerProcess, startServer } from '../support/cli-process.ts';

// Real processes on a busy machine take their time.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

let cwd: string;
let server: ServerProcess;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'stepwell-server-'));
  server = await startServer(['dev'], { cwd, env: { STEPWELL_DATABASE_URL: 'pglite:memory' } });
});

afterAll(async () => {
  await server.end('SIGKILL');
  rmSync(cwd, { recursive: true, force: true });
});

describe('the help', () => {
  it.each([
    ['--help'],
    ['help'],
    ['help', 'tree'],
    ['dev', '--help'],
    ['start', '--help'],
    ['signal', '--help'],
    ['migrate', '--help'],
  ])('fits a terminal of 80 columns: %s %s', async (...args) => {
    const { code, stdout } = await runCli(args, { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: stepwell');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});

describe('the server commands', () => {
  it.each([
    [['dev', '--prot', '80'], '--prot is not a flag of this command', 'Did you mean --port?'],
    [['dev', '--port', '99999'], '--port must be a whole number from 0 to 65535', '--port 9000'],
    [['dev', '--tick-ms', 'soon'], '--tick-ms must be a whole number', 'is a text of 4 characters'],
    [['dev', '--handlers', 'none.ts'], 'none.ts cannot be read', 'Check the path'],
    [['tre'], 'tre is not a command', 'Did you mean `stepwell tree`?'],
    [['--port', '9000'], 'there is no command', '`stepwell dev --port 9000`'],
    [['tree'], '<id> is missing', '`stepwell tree <id>`'],
    [['cost', '--host', 'gcp'], 'Invalid value for argument: --host (gcp)', 'aws, cloudflare'],
    [['serve'], 'there is no root key', 'STEPWELL_API_KEY'],
    [['migrate'], 'there is no server to migrate', 'STEPWELL_DATABASE_URL'],
  ])('refuse what makes no sense: %j', async (args, problem, next) => {
    const env = { STEPWELL_DATABASE_URL: 'pglite:memory' };
    const { code, stdout, stderr } = await runCli(args, { cwd, env });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr.split('\n').length).toBeLessThan(8);
    expect(stderr).not.toContain('\u001B');
    expect(stderr).toContain(problem);
    expect(stderr).toContain(next);
  });

  it('let doctor say what is fine and what is not, and change nothing', async () => {
    const fine = await runCli(['doctor'], { cwd, env: { STEPWELL_HTTP_ADDR: '127.0.0.1:0' } });
    expect(fine.stdout).toMatch(/✔ node[\s\S]*✔ handlers +only built-in[\s\S]*will be made[\s\S]*✔ port/);
    expect(existsSync(join(cwd, '.stepwell'))).toBe(false);
    expect(fine.code).toBe(0);
    const env = { STEPWELL_API_KEY: 'exported' };
    const running = await runCli(['doctor', '--port', new URL(server.url).port], { cwd, env });
    expect(running.stdout).toMatch(/✔ port .* is where Stepwell \S+ is running/);
    expect(running.code).toBe(0);
    const other = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = String(typeof address === 'object' && address !== null ? address.port : 0);
    const bad = await runCli(['doctor', '--port', port, '--handlers', 'none.ts'], { cwd });
    other.close();
    expect(bad.stdout).toMatch(/✖ handlers .*cannot be read[\s\S]*✖ port .*EADDRINUSE/);
    expect(bad.code).toBe(1);
  });

  it('refuse to open dev to the network', async () => {
    const env = { STEPWELL_HTTP_ADDR: '0.0.0.0:8080' };
    expect((await runCli(['dev'], { cwd, env })).stderr).toContain('loopback interface only');
  });

  it('say which port is taken', async () => {
    const env = { STEPWELL_DATABASE_URL: 'pglite:memory' };
    const { code, stderr } = await runCli(['dev', '--port', new URL(server.url).port], { cwd, env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/is in use by another program\n +Choose another port/);
  });
});
