/** Time after which an unused reply is discarded, in ms. */
const KEPT_MS = 5_000;

interface Asked {
  token: string;
  answers: Map<string, Promise<Response>>;
}

let asked: Asked | undefined;

export function headersOf(token: string | undefined): Headers {
  const headers = new Headers({ accept: 'application/json' });
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  return headers;
}

function begin(token: string): Asked {
  const begun: Asked = { token, answers: new Map() };
  setTimeout(() => begun.answers.clear(), KEPT_MS);
  return begun;
}

/** True if the page’s address is the dashboard or redirects to it. */
export function isAtStart(): boolean {
  return /^\/(dashboard)?$/u.test(location.pathname);
}

/** Requests the data of the first screen before the files of that screen are loaded. `paths` must be GET endpoints without parameters. */
export function askEarly(token: string, paths: readonly string[]): void {
  if (asked?.token !== token) asked = begin(token);
  for (const path of paths) {
    const address = `/api${path}`;
    const answer = fetch(address, { headers: headersOf(token) });
    // The call that takes the reply throws the failure.
    answer.catch(() => {});
    asked.answers.set(address, answer);
  }
}

/** Returns the early reply for the same session, once. */
export function takeEarly(address: string, token: string | undefined): Promise<Response> | undefined {
  if (asked === undefined || asked.token !== token) return undefined;
  const answer = asked.answers.get(address);
  asked.answers.delete(address);
  return answer;
}
