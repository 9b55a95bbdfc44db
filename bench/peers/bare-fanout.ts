// Peer of desk.ts: the least that sends a message to the pages of a person. `POST /say` with the event sends it to the sockets that named this person; nothing is stored, nobody is authenticated.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';

const HEARTBEAT_MS = 25_000;
const saySchema = z.object({ person: z.string(), frame: z.unknown() });
const helloSchema = z.object({ access_token: z.string() });

const pages = new Map<string, Set<WebSocket>>();
const server = createServer((request, response) => {
  void text(request).then((body) => {
    const { person, frame } = saySchema.parse(JSON.parse(body));
    const told = JSON.stringify(frame);
    for (const page of pages.get(person) ?? []) page.send(told);
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end('{}');
  });
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket) => {
  socket.once('message', (data) => {
    const { access_token } = helloSchema.parse(JSON.parse(String(data)));
    const own = pages.get(access_token) ?? new Set();
    pages.set(access_token, own.add(socket));
    socket.send('{"kind":"welcome"}');
    // Keeps a connection open past proxies, as the documentation of ws has it.
    setInterval(() => socket.ping(), HEARTBEAT_MS).unref();
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'));
