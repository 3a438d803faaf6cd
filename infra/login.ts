/** Supavisor takes the project along with the login: `functions.abcdefgh`. */
const SUPABASE_POOLER = /[.]pooler[.]supabase[.](com|co)$/;

/** The password of the login that an address names; empty where it has none. */
export function passwordOf(address: string): string {
  return URL.canParse(address) ? decodeURIComponent(new URL(address).password) : '';
}

/** The login that an address names; empty for what is no address, which the functions refuse without showing it. */
export function loginOf(address: string): string {
  if (!URL.canParse(address)) return '';
  const { username, hostname } = new URL(address);
  const login = decodeURIComponent(username);
  return SUPABASE_POOLER.test(hostname) ? login.replace(/[.][^.]+$/, '') : login;
}
