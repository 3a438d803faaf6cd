import { StoreUnavailable } from '../../../ports/store/store.ts';

/** No statement has left this process: the connection could not be made. The message says what to do next. */
export class NotConnected extends StoreUnavailable {
  /** True for what passes by itself: the database starts, wakes up, is full, or its name is not known yet. */
  readonly isPassing: boolean;
  /** SQLSTATE or the system's code; null when neither is known. */
  readonly code: string | null;
  constructor(message: string, options: { readonly isPassing: boolean; readonly code: string | null }) {
    super(message, { unknown: false });
    this.name = 'StoreUnavailable';
    this.isPassing = options.isPassing;
    this.code = options.code;
  }
}

interface Reason {
  readonly isPassing: boolean;
  readonly next: string;
}

const passing = (next: string): Reason => ({ isPassing: true, next });
const lasting = (next: string): Reason => ({ isPassing: false, next });

const LOGIN = lasting('check user and password in STEPWELL_DATABASE_URL');
const TRUST = lasting(
  'name the authority of its certificate in STEPWELL_DATABASE_CA (PEM text, or the path of a PEM file); ' +
    'sslmode=no-verify in STEPWELL_DATABASE_URL encrypts without asking who answers',
);
const HOST = passing('check the host in STEPWELL_DATABASE_URL');
const REACH = passing(
  'check host and port in STEPWELL_DATABASE_URL, that the server runs, and that a firewall lets it be reached',
);

const BUSY = passing(
  'all connections of this process are busy; a larger STEPWELL_DATABASE_MAX_CONNECTIONS, fewer turns at once or a quicker ' +
    'database help',
);

const REASONS: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: passing('check host and port in STEPWELL_DATABASE_URL, and that the server runs'),
  ECONNRESET: REACH,
  ETIMEDOUT: REACH,
  EHOSTUNREACH: REACH,
  ENETUNREACH: REACH,
  EPIPE: REACH,
  ENOTFOUND: HOST,
  EAI_AGAIN: HOST,
  '57P01': passing('the server is being stopped'),
  '57P02': passing('the server is starting again'),
  '57P03': passing('the server is starting; nothing has to be done'),
  '53300': passing('fewer processes, a pooler, or a larger max_connections of the server help'),
  '28P01': LOGIN,
  '28000': lasting(
    'check the user in STEPWELL_DATABASE_URL, and that the server lets it in from here (pg_hba.conf, sslmode)',
  ),
  '3D000': lasting('check the name of the database in STEPWELL_DATABASE_URL, or create it'),
  '42501': lasting('grant the user CONNECT on the database'),
  SELF_SIGNED_CERT_IN_CHAIN: TRUST,
  DEPTH_ZERO_SELF_SIGNED_CERT: TRUST,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: TRUST,
  UNABLE_TO_GET_ISSUER_CERT: TRUST,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: TRUST,
  CERT_UNTRUSTED: TRUST,
  CERT_HAS_EXPIRED: lasting("renew the server's certificate"),
  ERR_TLS_CERT_ALTNAME_INVALID: lasting('connect by the name that the certificate is made for'),
};

const NO_TLS = lasting(
  'switch TLS on in the server, or say sslmode=disable in STEPWELL_DATABASE_URL where the network is trusted',
);

/** What a failed attempt to connect means. No secret of the address is left in its text, whoever wrote it. */
export function notConnected(error: unknown, secrets: readonly string[]): NotConnected {
  const code = codeOf(error);
  const told = toldBy(error) ?? code ?? 'the connection failed';
  const reason = reasonOf(code, told);
  const mentioned = code === null || told.includes(code) ? '' : ` (${code})`;
  const next = reason === null ? '' : `; ${reason.next}`;
  return new NotConnected(hideSecrets(`the database was not reached: ${told}${mentioned}${next}`, secrets), {
    isPassing: reason?.isPassing ?? false,
    code,
  });
}

/** An event of a WebSocket has a message as well, and is no error. */
function toldBy(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('message' in error)) return null;
  return typeof error.message === 'string' && error.message !== '' ? error.message : null;
}

function reasonOf(code: string | null, told: string): Reason | null {
  if (code !== null && Object.hasOwn(REASONS, code)) return REASONS[code] ?? null;
  if (told.includes('does not support SSL')) return NO_TLS;
  // The words of the pool when nobody has given a connection back.
  if (told === 'timeout exceeded when trying to connect') return BUSY;
  if (/connection timeout|Connection terminated/.test(told)) return REACH;
  // A pooler that has no connection to its database tells nothing but this.
  return code?.startsWith('08') === true && !told.includes('startup parameter') ? REACH : null;
}

function codeOf(error: unknown): string | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    // What Neon's library calls the cause.
    at = 'sourceError' in at ? at.sourceError : at.cause;
  }
  return null;
}

/** The text without these secrets. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
}
