/** The deployment on AWS: `npx sst deploy --stage <stage>`. What is deployed stands in infra/, what stages differ in in infra/stage.ts. */
export default $config({
  async app(input) {
    const { stageSettings } = await import('./infra/stage.ts');
    const { isProtected } = stageSettings(input.stage);
    return {
      name: 'stepwell',
      home: 'aws',
      removal: isProtected ? 'retain' : 'remove',
      protect: isProtected,
      providers: { aws: '7.20.0' },
    };
  },
  async run() {
    const { Stepwell } = await import('./infra/component.ts');
    const { url, advice } = new Stepwell('Stepwell', { handlers: './examples/github-webhooks/handlers.ts' });
    return { url, advice };
  },
});
