import { settings, shared } from './functions.ts';

/** Set with `npx sst secret set StepwellApiKey …`: the root key, without which nobody gets in. */
const apiKey = new sst.Secret('StepwellApiKey');

/** The HTTP API. The function URL lets everybody through: callers are authenticated by the API itself. */
export const api = new sst.aws.Function('StepwellApi', {
  ...shared,
  handler: 'functions/aws/api.handler',
  url: { cors: false },
  environment: { ...shared.environment, STEPWELL_API_KEY: apiKey.value },
  ...(settings.reserved === null ? {} : { concurrency: { reserved: settings.reserved.api } }),
});
