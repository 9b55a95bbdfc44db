import { connect, createServer, type Socket } from 'node:net';
import { afterFile } from './after-file.ts';

export interface Relay {
  port: number;
  /** From now on bytes over its connections, present and new ones, vanish without an error. */
  swallow(): void;
  /** New connections work again; those of before stay as dead as they are. */
  mend(): void;
}

/** A network on the way to a port of loopback, that can fail without a word. */
export async function startRelay(to_port: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let generation = 0;
  let is_swallowing = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const born = generation;
    const far = connect({ port: to_port, host: '127.0.0.1' });
    const passes = () => born === generation && !is_swallowing;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      keep(from);
      from.on('data', (bytes) => void (passes() && to.write(bytes)));
      from.on('close', () => void (passes() && to.destroy()));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');
  afterFile(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: address.port,
    swallow() {
      is_swallowing = true;
    },
    mend() {
      is_swallowing = false;
      generation += 1;
    },
  };
}
