import { CreateQueueCommand, PurgeQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { interceptLocalhostDns, startFauxqs } from 'fauxqs';

/** An SQS in this process. AWS clients made after `startSqsServer` talk to it. */
export interface SqsServer {
  createQueue(name: string, attributes?: Readonly<Record<string, string>>): Promise<TestQueue>;
  stop(): Promise<void>;
}

export interface TestQueue {
  readonly url: string;
  readonly arn: string;
  /** Messages that can be received now, that are not due yet, and that were received and neither deleted nor given back. */
  look(): {
    readonly ready: SeenMessage[];
    readonly delayed: SeenMessage[];
    readonly inFlight: SeenMessage[];
  };
  send(body: string): Promise<void>;
  /** Loses everything. */
  lose(): Promise<void>;
}

export interface SeenMessage {
  readonly body: string;
  readonly delayMs: number;
  readonly receiveCount: number;
}

export async function startSqsServer(): Promise<SqsServer> {
  const server = await startFauxqs({ port: 0, logger: false });
  // The client takes the host of a queue's URL for its endpoint, and Node does not resolve names below localhost.
  const restoreNames = interceptLocalhostDns();
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SQS: `http://sqs.us-east-1.localhost:${server.port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
  });
  return {
    createQueue: async (name, attributes = {}) => {
      const command = new CreateQueueCommand({ QueueName: name, Attributes: { ...attributes } });
      const { QueueUrl = '' } = await new SQSClient({}).send(command);
      return queueOf(server, name, QueueUrl);
    },
    async stop() {
      restoreNames();
      await server.stop();
    },
  };
}

type Fauxqs = Awaited<ReturnType<typeof startFauxqs>>;

function queueOf(server: Fauxqs, name: string, url: string): TestQueue {
  const inspect = () => {
    const queue = server.inspectQueue(name);
    if (queue === undefined) throw new Error(`there is no queue ${name}`);
    return queue;
  };
  const sqs = new SQSClient({});
  return {
    url,
    arn: inspect().arn,
    look() {
      const { ready, delayed, inflight } = inspect().messages;
      return {
        ready: ready.map(seen),
        delayed: delayed.map(seen),
        inFlight: inflight.map(({ message }) => seen(message)),
      };
    },
    async send(body) {
      await sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody: body }));
    },
    async lose() {
      await sqs.send(new PurgeQueueCommand({ QueueUrl: url }));
    },
  };
}

type Message = NonNullable<ReturnType<Fauxqs['inspectQueue']>>['messages']['ready'][number];

function seen({ body, delayUntil, sentTimestamp, approximateReceiveCount }: Message): SeenMessage {
  const delayMs = delayUntil === undefined ? 0 : delayUntil - sentTimestamp;
  return { body, delayMs, receiveCount: approximateReceiveCount };
}
