/*
 * What the engine loads when it is first needed (docs/decisions/0014) is at hand here from the start: the test's clock would run
 * ahead of a file that is being read.
 */
import '../../engine/call-with-credentials.ts';
import '../../engine/operate.ts';
import '../../engine/read-plan.ts';
import '../../engine/read-tree.ts';
import '../../engine/resume-from.ts';
import '../../engine/run-hooks.ts';
import '../../engine/shape-up-to.ts';
import '../../engine/webhooks/attempt-webhook.ts';
