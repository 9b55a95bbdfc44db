import { readFile, stat } from 'node:fs/promises';
import { parseIp } from '@palisade/contract/ip-address';
import { type Listener, listenPlain, listenTls } from '@palisade/names/listen';
import type { Resolver } from '@palisade/names/resolver';
import type { FastifyBaseLogger } from 'fastify';
import type { DnsSettings } from '#platform/dns-settings.ts';
import { isPrivateSource, sourceOf } from '#platform/origin.ts';
import type { PassedSockets } from '#platform/passed-sockets.ts';
import type { Asker, QuestionDesk } from './question-desk.ts';

/** Names of the systemd sockets in deploy/. The unit of plain DNS passes the TCP socket first, then the UDP socket. */
const PLAIN_SOCKETS = 'palisade-dns';
const TLS_SOCKET = 'palisade-dns-tls';

/** Interval between checks for changed certificate files, in ms. */
const LOOK_MS = 60_000;

/** Whether the server may answer plain DNS on an address. It must be a single private one, because open resolvers are used in amplification attacks. */
const isOnePrivate = (host: string) => parseIp(host)?.value !== 0n && isPrivateSource(sourceOf(host));

/** The source of a plain DNS query. Undefined for a public address, because it may be forged to send the answer to a victim. */
export function askerAt(from: string): Asker | undefined {
  const address = from.replace(/^::ffff:|%.*$/gu, '');
  return isPrivateSource(sourceOf(address)) ? { address } : undefined;
}

/** The listeners for plain DNS and for DNS over TLS, as the settings request. */
export class NameListeners {
  private readonly options: {
    desk: Pick<QuestionDesk, 'ask' | 'isKnown'>;
    resolver: Pick<Resolver, 'findsLoop'>;
    dns: DnsSettings;
    /** The address on which the server listens. */
    host: string;
    isProxy: (address: string) => boolean;
    logger: FastifyBaseLogger;
  };
  private readonly opened: Listener[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(options: NameListeners['options']) {
    this.options = options;
  }

  /** Opens the listeners. @throws Error with a sentence that names the setting. */
  async open(passed: PassedSockets): Promise<void> {
    await this.openPlain(passed.get(PLAIN_SOCKETS));
    await this.openTls(passed.get(TLS_SOCKET));
  }

  private async answer(asker: Asker, message: Buffer) {
    const answered = await this.options.desk.ask(asker, message);
    return answered.kind === 'answered' ? answered : undefined;
  }

  private async openPlain([tcp, udp]: readonly number[] = []): Promise<void> {
    const { dns, resolver, logger } = this.options;
    const { listen } = dns;
    if (listen === undefined) return;
    const place = tcp === undefined || udp === undefined ? listen : { tcp: { fd: tcp }, udp: { fd: udp } };
    const listener = await listenPlain(place, async (message, from) => {
      const asker = askerAt(from);
      return asker && (await this.answer(asker, message));
    }).catch((error: unknown) => {
      throw new Error(
        `We can’t answer names at DNS_LISTEN ${listen.host}, port ${listen.port} (${codeOf(error)}). Set another of this machine’s addresses, or stop the other program.`,
      );
    });
    this.opened.push(listener);
    if (!isOnePrivate(listener.host))
      throw new Error(
        `The socket unit of plain DNS listens at ${listener.host}, which strangers could reach. Set it to one private address of this machine.`,
      );
    void resolver.findsLoop().then((isLooped) => {
      if (isLooped) logger.error('DNS_UPSTREAM leads back to this server. Set it to another name server.');
    });
  }

  private async openTls([fd]: readonly number[] = []): Promise<void> {
    const { dns, desk, host, isProxy } = this.options;
    const { tls } = dns;
    if (tls === undefined) return;
    const read = async () => ({ cert: await readFile(tls.cert_file), key: await readFile(tls.key_file) });
    const ending = `.${tls.host}`;
    try {
      const open = async (servername: string) => {
        const key = servername.toLowerCase().slice(0, -ending.length);
        if (!servername.toLowerCase().endsWith(ending) || !(await desk.isKnown(key))) return undefined;
        return (message: Buffer) => this.answer({ key }, message);
      };
      const listener = await listenTls(fd === undefined ? { host, port: tls.port } : { fd }, await read(), open, isProxy);
      this.opened.push(listener);
      this.watch(read, listener.renew);
    } catch (error) {
      throw new Error(
        `We can’t answer DNS over TLS at port ${tls.port} with DNS_TLS_CERT_FILE and DNS_TLS_KEY_FILE (${codeOf(error)}). Check the files and the port.`,
      );
    }
  }

  /** Reloads the certificate when its files change. */
  private watch<Certificate>(read: () => Promise<Certificate>, renew: (certificate: Certificate) => void): void {
    const { dns, logger } = this.options;
    const versionOf = async () => {
      const files = await Promise.all([dns.tls?.cert_file, dns.tls?.key_file].map((file) => stat(file ?? '')));
      return files.map(({ mtimeMs }) => mtimeMs).join();
    };
    let version: string | undefined;
    const look = async () => {
      const found = await versionOf();
      if (version !== undefined && found !== version) renew(await read());
      version = found;
    };
    this.timer = setInterval(() => {
      look().catch((error: unknown) => logger.warn({ err: error }, 'the certificate of DNS over TLS could not be read again'));
    }, LOOK_MS);
    this.timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.opened.splice(0).map((listener) => listener.close()));
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error));
