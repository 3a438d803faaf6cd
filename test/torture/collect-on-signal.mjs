import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loaded before a server whose memory is measured: it collects all garbage when it gets the signal, and says so. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => {
  collect();
  collect();
  process.stderr.write('garbage collected\n');
});
