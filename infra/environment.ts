import { checkSize } from './environment-size.ts';

/**
 * What a function is told stands in the state encrypted, also where sst has lost that it is secret on the way to a subscriber of a
 * queue; and it is no more than AWS takes, which would say so in the middle of the deployment only.
 */
export function asSecret(lambda: aws.lambda.FunctionArgs): undefined {
  const environment = $util.output(lambda.environment).apply((given) => {
    checkSize(given?.variables ?? {});
    return given ?? {};
  });
  lambda.environment = $util.secret(environment);
}
