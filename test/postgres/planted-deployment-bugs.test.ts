import { deploymentScene } from './deployments.ts';
import { type Bug, describeBugs } from './plant.ts';
import type { Session } from './sessions.ts';

/** An earlier deployment changes what a later one has seen on top, while that one waits. */
async function changedWhileWaiting(one: Session, two: Session): Promise<boolean> {
  const { deploy, handlers } = deploymentScene();
  await deploy(one.store, 1, 'good');
  await one.begin();
  await deploy(one.store, 2, 'bad');
  const later = deploy(two.store, 3, 'good');
  // Without a lock it does not wait.
  await Promise.race([two.untilBlocked(), later]);
  await one.commit();
  await later;
  return (await handlers(one.store))[0] === 'good';
}

const BUGS: readonly Bug[] = [
  {
    rule: 'a deployment that was made earlier and comes late changes nothing (decision 0019)',
    in: 'publish_deployed_v1',
    replace: [['v_deployed < v_last.deployed_at', 'false']],
    async scene(one) {
      const { deploy, handlers } = deploymentScene();
      await deploy(one.store, 2, 'new');
      await deploy(one.store, 1, 'old');
      return (await handlers(one.store))[0] === 'new';
    },
  },
  {
    rule: 'a deployment that finds its content on top is noted (decision 0019)',
    in: 'publish_deployed_v1',
    replace: [['AND d.name = v_name;\n  RETURN', 'AND d.name = v_name AND v_new IS NOT NULL;\n  RETURN']],
    async scene(one) {
      const { deploy, handlers } = deploymentScene();
      await deploy(one.store, 1, 'good');
      await deploy(one.store, 3, 'good');
      await deploy(one.store, 2, 'bad');
      return (await handlers(one.store))[0] === 'good';
    },
  },
  {
    rule: 'what was published by hand stays under a deployment that brings nothing new (decision 0019)',
    in: 'publish_deployed_v1',
    replace: [['v_last.content_hash = v_hash', 'false']],
    async scene(one) {
      const { deploy, publishByHand, handlers } = deploymentScene();
      await deploy(one.store, null, 'bad');
      await publishByHand(one.store, 2, 'fix');
      await deploy(one.store, null, 'bad');
      return (await handlers(one.store))[0] === 'fix';
    },
  },
  {
    rule: 'a deployment looks again when the newest version has changed since its look (decision 0019)',
    in: 'publish_deployed_v1',
    replace: [["v_newest IS DISTINCT FROM (p_request ->> 'newestSeen')::integer", 'false']],
    scene: changedWhileWaiting,
  },
  {
    rule: 'the row of a name is its lock (decision 0019)',
    in: 'publish_deployed_v1',
    replace: [
      [
        'INSERT INTO stepwell.deployed_sequences AS d (tenant_id, namespace, name, deployed_at, content_hash)\n',
        '',
      ],
      ["VALUES (v_tenant, v_namespace, v_name, '-infinity', '')\n", ''],
      ['ON CONFLICT (tenant_id, namespace, name) DO UPDATE SET content_hash = d.content_hash\n', ''],
      [
        'RETURNING d.* INTO v_last;',
        `SELECT d.* INTO v_last FROM stepwell.deployed_sequences d
         WHERE d.tenant_id = v_tenant AND d.namespace = v_namespace AND d.name = v_name;`,
      ],
    ],
    scene: changedWhileWaiting,
  },
];

describeBugs('deployments', BUGS);
