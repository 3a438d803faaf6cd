/** Everything in which stages differ. */
export interface StageSettings {
  /** The stage cannot be removed by mistake. */
  readonly isProtected: boolean;
  readonly logRetention: '1 week' | '1 month' | '3 months' | '1 year';
  /**
   * Turn functions at once: the database's safety valve (reliability.md 5.4: 10 at a quarter of a compute unit, 40 at one,
   * 100 at four). At most half of the account's concurrency, or the API finds no room.
   */
  readonly turnFunctionsMax: number;
  /**
   * Set aside of the account's concurrency, so that a flood of runs starves none of them; null: nothing. AWS refuses what would
   * leave less than 100 for all other functions of the account, and a new account has 10 or 50 in all.
   */
  readonly reserved: { readonly api: number; readonly stream: number; readonly sweep: number } | null;
}

/** Both are usual, and the wrong guess would leave the database of a business unprotected. */
const NAMES_OF_PRODUCTION = ['production', 'prod'];

/** The stages `production` and `prod` are production, all others are not. */
export function stageSettings(stage: string): StageSettings {
  return NAMES_OF_PRODUCTION.includes(stage) ? PRODUCTION : OTHERS;
}

const PRODUCTION: StageSettings = {
  isProtected: true,
  logRetention: '3 months',
  turnFunctionsMax: 40,
  reserved: null,
};

const OTHERS: StageSettings = {
  isProtected: false,
  logRetention: '1 week',
  turnFunctionsMax: 10,
  reserved: null,
};
