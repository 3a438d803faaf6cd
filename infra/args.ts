import type { StageSettings } from './stage.ts';

/** What is deployed: a project of the user's own, and where its database is. Paths are those of the project's root. */
export interface StepwellArgs {
  /** File whose exports are handlers. Default: the built-in handlers only. */
  readonly handlers?: string;
  /** File or folder with sequences (JSON, or modules that export drafts), published by the deployment. Default: none. */
  readonly sequences?: string;
  /** Tenant of the sequences that name none. Default: `default`. */
  readonly tenant?: string;
  /** Default: the secrets `<Name>DatabaseUrl` and `<Name>DatabaseOwnerUrl`. */
  readonly database?: StepwellDatabase;
  /** The root key of the API. Default: the secret `<Name>ApiKey`. */
  readonly apiKey?: $util.Input<string>;
  /** 64 hex digits; seals credentials. Absent: credentials cannot be stored. */
  readonly encryptionKey?: $util.Input<string>;
  /**
   * `steady`: the sweep comes each minute. `economy`: it comes when something is due, by one-off schedules, and every few
   * hours in any case, so that a database that sleeps may sleep. Default: `steady`.
   */
  readonly mode?: 'steady' | 'economy';
  /** What is to be other than `stageSettings` of the stage has it. */
  readonly stage?: Partial<StageSettings>;
  /** Further environment of all functions: settings (docs/settings.md) and what handlers need. */
  readonly environment?: Readonly<Record<string, $util.Input<string>>>;
  /** Resources that handlers and sequences use: all functions that import either are linked to them. */
  readonly link?: sst.aws.FunctionArgs['link'];
  /** What handlers may do on AWS; all functions that import handlers may. */
  readonly permissions?: readonly sst.aws.FunctionPermissionArgs[];
  /** Where the database can be reached, when it is not public. */
  readonly vpc?: sst.aws.FunctionArgs['vpc'];
  /** Who is told by alarms. Default: they are only shown. */
  readonly alarms?: { readonly email: string } | { readonly topicArn: $util.Input<string> };
}

export interface StepwellDatabase {
  /** PostgreSQL URL of the functions; that of a Neon project as it is. */
  readonly url: $util.Input<string>;
  /** URL of the owner of the schema, for migrations only, which also make the login of `url` where there is none. Default: `url`. */
  readonly ownerUrl?: $util.Input<string>;
  /** How functions reach it. Default: by HTTP under neon.tech, else by TCP. */
  readonly driver?: 'neon' | 'pg';
  /**
   * What the database, or the pooler before it, takes: a stage that could open more is refused. Needs `stage.reserved`.
   * Default: nobody looks. By HTTP no connections are held.
   */
  readonly maxConnections?: number;
}
