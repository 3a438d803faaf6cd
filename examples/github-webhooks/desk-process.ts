import { createDesk } from './desk.ts';
import type { DeskLine } from './ledger.ts';

/** The desk as a process of its own: it outlives the engine, which is killed. Ends when its parent closes the input. */
const say = (line: DeskLine): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

const seed = Number(process.argv[2] ?? '1');
const server = createDesk(
  seed,
  () => say({ type: 'arrival' }),
  (call) => say({ type: 'call', ...call }),
);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  say({ type: 'ready', url: `http://127.0.0.1:${port}` });
});
process.stdin.resume().on('end', () => process.exit(0));
