/** An answer that nothing has taken after this time, in ms, is asked for anew. */
const KEPT_MS = 5_000;

let asked: { token: string; answers: Map<string, Promise<Response>> } | undefined;

/** Headers of every call. */
export function headersOf(token: string | undefined): Headers {
  const headers = new Headers({ accept: 'application/json' });
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  return headers;
}

/** Asks for what the first screen will read, before the files of that screen are there. `addresses` are those of lists or records, which are read only. */
export function askEarly(token: string, addresses: readonly string[]): void {
  const answers = new Map(addresses.map((address) => [address, fetch(address, { headers: headersOf(token) })]));
  // A failure is thrown by the call that takes the answer.
  for (const answer of answers.values()) answer.catch(() => {});
  asked = { token, answers };
  setTimeout(() => {
    asked = undefined;
  }, KEPT_MS);
}

/** The answer that was asked for early by the same session, for the first who reads it. */
export function takeEarly(address: string, token: string | undefined): Promise<Response> | undefined {
  if (asked?.token !== token) return undefined;
  const answer = asked?.answers.get(address);
  asked?.answers.delete(address);
  return answer;
}
