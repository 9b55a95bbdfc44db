import type { Session } from './session.ts';

/** An answer that nothing has taken after this time, in ms, is asked for anew. */
const KEPT_MS = 5_000;

interface Asked {
  token: string;
  answers: Map<string, Promise<Response>>;
}

let asked: Asked | undefined;

/** Headers of every call. */
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

/** Asks for what the first screen will read, before the files of that screen are there. `paths` are those of endpoints that only read, without parameters. */
export function askEarly({ access_token: token, two_factor_setup_required: isHeld }: Session, paths: readonly string[]): void {
  if (isHeld) return;
  if (asked?.token !== token) asked = begin(token);
  for (const path of paths) {
    const address = `/api${path}`;
    const answer = fetch(address, { headers: headersOf(token) });
    // A failure is thrown by the call that takes the answer.
    answer.catch(() => {});
    asked.answers.set(address, answer);
  }
}

/** The answer that was asked for early by the same session, for the first who reads it. */
export function takeEarly(address: string, token: string | undefined): Promise<Response> | undefined {
  if (asked === undefined || asked.token !== token) return undefined;
  const answer = asked.answers.get(address);
  asked.answers.delete(address);
  return answer;
}
