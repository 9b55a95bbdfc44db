// Peer of remote-control.ts: joins two sockets, no faster than each takes the bytes. Prints its port.
import { WebSocket, WebSocketServer } from 'ws';

const WAITING = 1024 ** 2;
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, maxPayload: 4 * WAITING });
const ends: WebSocket[] = [];
server.on('connection', (socket) => {
  ends.push(socket);
  const other = () => ends.find((one) => one !== socket && one.readyState === WebSocket.OPEN);
  socket.on('message', (bytes: Buffer) => {
    const to = other();
    if (to === undefined) return;
    to.send(bytes, () => {
      if (to.bufferedAmount < WAITING / 2) socket.resume();
    });
    if (to.bufferedAmount > WAITING) socket.pause();
  });
});
server.on('listening', () => {
  const address = server.address();
  process.stdout.write(`listening on ${typeof address === 'object' ? address?.port : address}\n`);
});
