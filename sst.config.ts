/** The deployment on AWS: `npx sst deploy --stage <stage>`. Resources stand in infra/, what stages differ in in infra/stage.ts. */
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
    const { api } = await import('./infra/api.ts');
    await import('./infra/turns.ts');
    await import('./infra/sweep.ts');
    return { url: api.url };
  },
});
