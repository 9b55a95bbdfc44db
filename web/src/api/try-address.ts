import { problemSchema } from '@palisade/contract/problem';
import { WEB_TRIAL_HEADER } from '@palisade/contract/web-protection';

const MESSAGE = 'application/dns-message';
/** A DNS query for the address of `use-application-dns.net` (RFC 1035 section 4.1). The server gives every such test the same reply. */
const QUESTION = new TextEncoder().encode('\0\0\x01\0\0\x01\0\0\0\0\0\0\x13use-application-dns\x03net\0\0\x01\0\x01');
const FAILED = 'This address doesn’t answer. Ask the administrator to let /dns/ through the proxy.';

/** Whether the address of a device answers DNS over HTTPS, as a sentence. Throws only the reason of the signal. */
export async function tryAddress(address: string, signal: AbortSignal): Promise<{ isWorking: boolean; sentence: string }> {
  try {
    const headers = { 'content-type': MESSAGE, accept: MESSAGE, [WEB_TRIAL_HEADER]: '1' };
    const response = await fetch(address, { method: 'POST', headers, body: QUESTION, signal });
    const isMessage = response.headers.get('content-type') === MESSAGE;
    if (response.ok && isMessage) {
      const [, , flags = 0] = new Uint8Array(await response.arrayBuffer());
      // The bit that marks a DNS response (QR).
      if (flags >= 0x80) return { isWorking: true, sentence: 'This address answers.' };
    } else {
      const problem = problemSchema.safeParse(await response.json());
      if (problem.success) return { isWorking: false, sentence: problem.data.detail };
    }
  } catch {
    signal.throwIfAborted();
  }
  return { isWorking: false, sentence: FAILED };
}
