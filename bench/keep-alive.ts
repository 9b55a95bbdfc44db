// Minimal HTTP client with persistent connections, so that its own CPU time is small.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';

/** Reads complete responses from a socket. Each response needs a content-length header, which all JSON responses here have. */
class Connection {
  private buffered: Buffer = Buffer.alloc(0);
  private resolve: ((status: number) => void) | undefined;
  private readonly socket: Socket;
  private readonly request: Buffer;

  constructor(socket: Socket, request: Buffer) {
    this.socket = socket;
    this.request = request;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.take(chunk));
  }

  private take(chunk: Buffer): void {
    this.buffered = this.buffered.length === 0 ? chunk : Buffer.concat([this.buffered, chunk]);
    const head_end = this.buffered.indexOf(HEAD_END);
    if (head_end < 0) return;
    const head = this.buffered.toString('latin1', 0, head_end);
    const end = head_end + HEAD_END.length + Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
    if (this.buffered.length < end) return;
    this.buffered = this.buffered.subarray(end);
    this.resolve?.(Number(head.slice(9, 12)));
  }

  send(): Promise<number> {
    return new Promise((resolve) => {
      this.resolve = resolve;
      this.socket.write(this.request);
    });
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Sends `count` requests (POST if there is a body) over `connections` connections, each with one request at a time. @throws Error for a status other than 200. */
export async function askOften(
  url: string,
  {
    headers = {},
    body,
    count,
    connections,
  }: { headers?: Record<string, string>; body?: Buffer; count: number; connections: number },
): Promise<void> {
  const { hostname, port, host, pathname, search } = new URL(url);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === undefined ? '' : `content-length: ${body.length}\r\n`;
  const head = `${body === undefined ? 'GET' : 'POST'} ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n${lines.join('')}${length}\r\n`;
  const request = Buffer.concat([Buffer.from(head), body ?? Buffer.alloc(0)]);
  let left = count;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port) });
      await once(socket, 'connect');
      const connection = new Connection(socket, request);
      while (left > 0) {
        left -= 1;
        const status = await connection.send();
        if (status !== 200) throw new Error(`${url} answered ${status}`);
      }
      connection.close();
    }),
  );
}
