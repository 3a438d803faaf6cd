// oxlint-disable-next-line typescript/triple-slash-reference -- the types that `sst install` writes have no other way in
/// <reference path="./.sst/platform/config.d.ts" />

export default $config({
  app(input) {
    const isProduction = ['production', 'prod'].includes(input.stage);
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
      // Who is told by alarms:
      // alarms: { email: 'you@example.com' },
      // On an account with a total concurrency of 1,000:
      // stage: { reserved: { api: 100, stream: 20, sweep: 2 } },
      environment: { DESK_URL: process.env['DESK_URL'] ?? 'https://desk.example.com' },
    });
    return { url: workflows.url, advice: workflows.advice };
  },
});
