import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { fitForUdp } from './answers.ts';
import type { Address } from './upstream.ts';
import type { Question } from './wire.ts';

/** Answers a message; `undefined` closes a connection, and sends no answer over UDP. */
export type Answering = (message: Buffer) => Promise<{ answer: Buffer | undefined; question?: Question | undefined } | undefined>;

/** File descriptor of a socket that already listens. */
export interface Opened {
  fd: number;
}

export interface Listener {
  host: string;
  port: number;
  close(): Promise<void>;
}

/** Time limit for receiving a message and for a TLS handshake, in ms. */
const MESSAGE_MS = 10_000;
const IDLE_MS = 30_000;
const CONNECTIONS_MAXIMUM = 4_000;
const CONNECTIONS_PER_SOURCE = 100;
/** Maximum concurrent queries of one connection. */
const WAITING_PER_CONNECTION = 100;
const WAITING_DATAGRAMS = 10_000;
/** Maximum bytes that a client may leave unread. */
const UNREAD_MAXIMUM = 262_144;

/** Serves length-prefixed DNS messages on a stream (RFC 1035 section 4.2.2, RFC 7766). A slow or invalid client is disconnected. */
export function carry(socket: Socket, answering: Answering): void {
  let held: Buffer = Buffer.alloc(0);
  let waiting = 0;
  let late: NodeJS.Timeout | undefined;
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('close', () => clearTimeout(late));
  const answer = async (message: Buffer) => {
    waiting++;
    const resolved = await answering(message).catch(() => undefined);
    waiting--;
    if (socket.destroyed) return;
    const bytes = resolved?.answer;
    const isSendable = socket.writableLength <= UNREAD_MAXIMUM;
    if (bytes === undefined || bytes.length > 0xffff || !isSendable) return void socket.destroy();
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    socket.write(Buffer.concat([length, bytes]));
  };
  socket.on('data', (bytes: Buffer) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
      if (waiting >= WAITING_PER_CONNECTION) return void socket.destroy();
      const end = 2 + held.readUInt16BE(0);
      void answer(held.subarray(2, end));
      held = held.subarray(end);
      clearTimeout(late);
      late = undefined;
    }
    if (held.length > 0) late ??= setTimeout(() => socket.destroy(), MESSAGE_MS).unref();
  });
}

/** The source of a connection: an IPv4 address, or the /64 network of an IPv6 address, the smallest network of a customer. */
export function networkOf(address: string): string {
  const text = address.replace(/^::ffff:(?=[\d.]+$)|%.*$/giu, '');
  if (!isIPv6(text)) return text;
  const [head = [], tail = []] = text.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(8 - head.length - tail.length, 0)).fill('0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}

/** Starts a server with limits on connections. A proxy carries connections of many sources, so the limit per source does not apply to it. */
async function opened(server: Server, place: Address | Opened, isProxy: (address: string) => boolean): Promise<Listener> {
  const sockets = new Map<Socket, string>();
  const counts = new Map<string, number>();
  server.maxConnections = CONNECTIONS_MAXIMUM;
  server.on('connection', (socket) => {
    const source = networkOf(socket.remoteAddress ?? '');
    const count = (counts.get(source) ?? 0) + 1;
    if (count > CONNECTIONS_PER_SOURCE && !isProxy(socket.remoteAddress ?? '')) return void socket.destroy();
    counts.set(source, count);
    sockets.set(socket, source);
    socket.once('close', () => {
      sockets.delete(socket);
      const left = (counts.get(source) ?? 1) - 1;
      if (left === 0) counts.delete(source);
      else counts.set(source, left);
    });
  });
  server.listen(place);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('not a socket of a network');
  return {
    host: bound.address,
    port: bound.port,
    async close() {
      for (const socket of sockets.keys()) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Answers plain DNS at one address, over UDP and TCP. */
export async function listenPlain(
  place: Address | { tcp: Opened; udp: Opened },
  answering: (message: Buffer, from: string) => ReturnType<Answering>,
) {
  const tcp = await opened(
    createServer((socket) => carry(socket, (message) => answering(message, socket.remoteAddress ?? ''))),
    'tcp' in place ? place.tcp : place,
    () => false,
  );
  const udp = createSocket(isIPv6(tcp.host) ? 'udp6' : 'udp4');
  let waiting = 0;
  udp.on('message', (message, { address: from, port }) => {
    if (waiting >= WAITING_DATAGRAMS) return;
    waiting++;
    answering(message, from)
      .then((resolved) => {
        const { answer, question } = resolved ?? {};
        if (answer !== undefined) udp.send(question === undefined ? answer : fitForUdp(question, answer), port, from);
      })
      .catch(() => undefined)
      .finally(() => waiting--);
  });
  try {
    const listening = once(udp, 'listening');
    if ('udp' in place) udp.bind(place.udp);
    else udp.bind(tcp.port, place.host);
    await listening;
  } catch (error) {
    await tcp.close();
    throw error;
  }
  // Errors of single datagrams, such as an unreachable client, are ignored.
  udp.on('error', () => {});
  return {
    ...tcp,
    async close() {
      await new Promise<void>((closed) => udp.close(closed));
      await tcp.close();
    },
  };
}

const idOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

/**
 * Answers DNS over TLS (RFC 7858). `open` returns the handler for connections to a server name; undefined closes the connection.
 * `renew` sets a new certificate for later connections.
 */
export async function listenTls(
  place: Address | Opened,
  certificate: { cert: Buffer; key: Buffer },
  open: (servername: string) => Promise<Answering | undefined>,
  isProxy: (address: string) => boolean = () => false,
): Promise<Listener & { renew(certificate: { cert: Buffer; key: Buffer }): void }> {
  const server = createTlsServer({ ...certificate, ALPNProtocols: ['dot'] });
  // Node’s handshake timeout is not sufficient: each received byte restarts it, and it does not close the connection.
  const greetings = new Map<string, NodeJS.Timeout>();
  const endGreeting = (id: string) => {
    clearTimeout(greetings.get(id));
    greetings.delete(id);
  };
  server.on('connection', (socket: Socket) => {
    const id = idOf(socket);
    greetings.set(id, setTimeout(() => socket.destroy(), MESSAGE_MS).unref());
    socket.once('close', () => endGreeting(id));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.on('error', () => socket.destroy());
    const { servername } = socket;
    const opening = typeof servername === 'string' ? open(servername) : Promise.resolve(undefined);
    opening.then(
      (answering) => {
        if (answering === undefined) return void socket.destroy();
        endGreeting(idOf(socket));
        carry(socket, answering);
      },
      () => socket.destroy(),
    );
  });
  const listener = await opened(server, place, isProxy);
  return { ...listener, renew: (renewed) => server.setSecureContext(renewed) };
}
