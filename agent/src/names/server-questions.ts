import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Ask } from '@palisade/names/upstream';
import { trustSystem } from '#link/trust.ts';
import { wholeAnswer } from '#link/whole-answer.ts';

const MESSAGE = 'application/dns-message';
const MESSAGE_MAXIMUM = 65_535;
const CONNECTIONS = { keepAlive: true, maxSockets: 32, maxFreeSockets: 4, keepAliveMsecs: 10_000 } as const;
const REFUSALS: Record<number, string> = {
  404: 'it does not know this device’s key',
  429: 'this computer asks for too many names',
};

/** Sends DNS queries to the server over HTTPS (RFC 8484) with the device's key, over persistent connections. */
export class ServerQuestions {
  private readonly server: URL;
  private readonly lookup: LookupFunction;
  private readonly connections: HttpAgent;
  /** Secret key that identifies the device; it is never shown or logged. */
  key = '';

  constructor(server: URL, lookup: LookupFunction) {
    this.server = server;
    this.lookup = lookup;
    this.connections = server.protocol === 'https:' ? new HttpsAgent(CONNECTIONS) : new HttpAgent(CONNECTIONS);
  }

  readonly ask: Ask = (query, signal) => {
    const url = new URL(`/dns/${this.key}`, this.server);
    trustSystem(url);
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const sent = request(
        url,
        {
          method: 'POST',
          agent: this.connections,
          lookup: this.lookup,
          signal,
          headers: { 'content-type': MESSAGE, accept: MESSAGE, 'content-length': query.length },
        },
        (response) => {
          const { statusCode = 0 } = response;
          wholeAnswer(response, MESSAGE_MAXIMUM).then((answer) => {
            if (statusCode === 200) resolve(answer);
            else reject(new Error(REFUSALS[statusCode] ?? `it answered ${statusCode}`));
          }, reject);
        },
      );
      sent.on('error', reject);
      sent.end(query);
    });
  };

  close(): void {
    this.connections.destroy();
  }
}
