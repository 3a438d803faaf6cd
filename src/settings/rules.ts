import type { Settings } from './schema.ts';

/**
 * What is wrong with a setting, for people.
 *
 * @param name As it was given: `--port`, `STEPWELL_LEASE_MS`, `leaseMs in …`.
 */
export function settingProblem(name: string, expected: string, value: unknown): string {
  return value === undefined
    ? `${name} must be ${expected}, but is not set.`
    : `${name} must be ${expected}, but is ${kindOf(value)}. Correct it, or remove it to use the default.`;
}

/** Enough to find the mistake, too little to leak a secret. */
function kindOf(value: unknown): string {
  if (typeof value === 'string') {
    return /^\s*-?[0-9]+\s*$/.test(value)
      ? 'a number outside of that'
      : `a text of ${value.length} characters`;
  }
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number outside of that' : 'a fraction';
  if (Array.isArray(value)) return 'a list';
  return `a value of type ${typeof value}`;
}

type Guarded = Pick<Settings, 'apiKey' | 'requireTenantHeader' | 'allowNoTenantIsolation' | 'corsOrigins'>;

/** Combinations that are refused because they would be open to the world by accident (http-api.md 1.4, 1.9). */
export function clashesIn(settings: Guarded): readonly string[] {
  const clashes: string[] = [];
  if (settings.apiKey === undefined) return clashes;
  if (!settings.requireTenantHeader && !settings.allowNoTenantIsolation) {
    clashes.push(
      'STEPWELL_REQUIRE_TENANT_HEADER is off while STEPWELL_API_KEY is set: callers would see all tenants. ' +
        'Switch it on, or set STEPWELL_ALLOW_NO_TENANT_ISOLATION=true if that is what you want.',
    );
  }
  if (settings.corsOrigins.includes('*')) {
    clashes.push(
      'STEPWELL_CORS_ORIGINS is * while STEPWELL_API_KEY is set: any web page could use a key that it finds. ' +
        'List the origins, separated by commas.',
    );
  }
  return clashes;
}
