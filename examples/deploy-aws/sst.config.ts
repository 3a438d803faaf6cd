// oxlint-disable-next-line typescript/triple-slash-reference -- the types that `sst install` writes have no other way in
/// <reference path="./.sst/platform/config.d.ts" />

export default $config({
  app(input) {
    const isProduction = input.stage === 'production';
    return {
      name: 'workflows',
      home: 'aws',
      removal: isProduction ? 'retain' : 'remove',
      protect: isProduction,
      providers: { aws: '7.20.0' },
    };
  },
  async run() {
    const { Stepwell } = await import('stepwell/sst');
    const workflows = new Stepwell('Workflows', {
      handlers: './handlers.ts',
      sequences: './sequences.ts',
      // A database that sleeps while nothing is due. With 'steady' the sweep comes each minute.
      mode: 'economy',
      // A login for the functions that owns nothing, beside the owner for migrations:
      // database: {
      //   url: new sst.Secret('WorkflowsDatabaseUrl').value,
      //   ownerUrl: new sst.Secret('WorkflowsOwnerUrl').value,
      // },
      // On an account with a total concurrency of 1,000:
      // stage: { reserved: { api: 100, stream: 20, sweep: 2 } },
      environment: { DESK_URL: process.env['DESK_URL'] ?? 'https://desk.example.com' },
    });
    return { url: workflows.url };
  },
});
