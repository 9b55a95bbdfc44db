import { open } from 'node:fs/promises';
import { describeSize } from '@palisade/contract/intl';
import type { SignatureFeed } from '#platform/signature-feeds.ts';

/** Limits of a download. Bytes and ms. */
export interface FetchLimits {
  bytes: number;
  time_ms: number;
  /** Time without data from the server, in ms. */
  stall_ms: number;
}

/** Default limits: the largest public feeds have about 20 MB. */
export const FETCH_LIMITS: FetchLimits = { bytes: 256 * 1024 ** 2, time_ms: 10 * 60_000, stall_ms: 30_000 };

/** A feed that is rejected. The message is a sentence for an administrator. */
export class FeedRefused extends Error {
  override name = 'FeedRefused';
}

/** The server's cache validators of the content that it sent. */
export interface Validators {
  etag: string | null;
  last_modified: string | null;
}

const REDIRECTS_MAXIMUM = 5;
const SIGNATURE_BYTES_MAXIMUM = 1024;
const REDIRECT_STATUS = [301, 302, 303, 307, 308];

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return `${cause instanceof Error ? cause.message : String(cause)}${code}`;
}

/** Follows redirects manually: none may leave TLS, or lead from another host to this machine. */
async function ask(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  let at = new URL(url);
  for (let redirects = 0; redirects <= REDIRECTS_MAXIMUM; redirects++) {
    const response = await fetch(at, { headers, signal, redirect: 'manual' });
    if (!REDIRECT_STATUS.includes(response.status)) return response;
    await response.body?.cancel();
    const to = URL.parse(response.headers.get('location') ?? '', at.href);
    if (to === null) throw new FeedRefused('Its server redirects without an address.');
    if (to.protocol !== at.protocol || (to.protocol === 'http:' && to.hostname !== at.hostname)) {
      throw new FeedRefused('Its server redirects to a less secure address.');
    }
    at = to;
  }
  throw new FeedRefused(`Its server redirects more than ${REDIRECTS_MAXIMUM} times.`);
}

/** One download with its limits. `onBytes` may throw to end it. */
async function download(
  url: string,
  request: { headers: Record<string, string>; limits: FetchLimits; signal: AbortSignal },
  take: (response: Response, chunks: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const { headers, limits, signal } = request;
  const abort = new AbortController();
  const stop = (sentence: string) => abort.abort(new FeedRefused(sentence));
  const whole = setTimeout(() => stop(`Its server took longer than ${Math.round(limits.time_ms / 1000)} s.`), limits.time_ms);
  const stall = setTimeout(() => stop(`Its server said nothing for ${Math.round(limits.stall_ms / 1000)} s.`), limits.stall_ms);
  try {
    const response = await ask(url, { 'accept-encoding': 'identity', ...headers }, AbortSignal.any([signal, abort.signal]));
    const body = response.body;
    async function* chunks(): AsyncGenerator<Uint8Array> {
      let bytes = 0;
      for await (const chunk of body ?? []) {
        stall.refresh();
        bytes += chunk.length;
        if (bytes > limits.bytes) throw new FeedRefused(`It is larger than ${describeSize(limits.bytes)}.`);
        yield chunk;
      }
    }
    await take(response, chunks());
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FeedRefused) throw error;
    if (abort.signal.reason instanceof FeedRefused) throw abort.signal.reason;
    throw new FeedRefused(`It could not be fetched: ${reasonOf(error)}.`);
  } finally {
    clearTimeout(whole);
    clearTimeout(stall);
    // Drops the rest of a body that was not read to its end.
    abort.abort();
  }
}

function requireOk(response: Response): void {
  if (response.status !== 200) throw new FeedRefused(`Its server answered ${response.status}.`);
}

/**
 * Downloads a feed to `path`, and its detached signature (raw or base64) if its pin requires one. Does not verify them. Undefined: the server says that the content with
 * these validators is still current. @throws FeedRefused, or the signal's reason.
 */
export async function fetchFeed(
  feed: SignatureFeed,
  parts: { path: string; known: Validators | undefined; limits: FetchLimits; signal: AbortSignal },
): Promise<(Validators & { signature: Buffer | undefined }) | undefined> {
  const { path, known, limits, signal } = parts;
  const headers: Record<string, string> = {
    ...(known?.etag ? { 'if-none-match': known.etag } : {}),
    ...(known?.last_modified ? { 'if-modified-since': known.last_modified } : {}),
  };
  let validators: Validators | undefined;
  await download(feed.url, { headers, limits, signal }, async (response, chunks) => {
    if (response.status === 304 && known !== undefined) return;
    requireOk(response);
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of chunks) await file.writeFile(chunk);
    } finally {
      await file.close();
    }
    validators = { etag: response.headers.get('etag'), last_modified: response.headers.get('last-modified') };
  });
  if (validators === undefined) return undefined;
  if (feed.pin.kind !== 'ed25519') return { ...validators, signature: undefined };
  const address = new URL(feed.url);
  address.pathname += '.sig';
  const signature: Uint8Array[] = [];
  await download(
    address.href,
    { headers: {}, limits: { ...limits, bytes: SIGNATURE_BYTES_MAXIMUM }, signal },
    async (response, chunks) => {
      if (response.status !== 200) throw new FeedRefused(`The server of its signature answered ${response.status}.`);
      for await (const chunk of chunks) signature.push(chunk);
    },
  );
  return { ...validators, signature: Buffer.concat(signature) };
}
