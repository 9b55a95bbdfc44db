import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { agentChannel, type Said, saidSchema, type Told, toldSchema } from '@palisade/contract/agent';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';

/**
 * A server for one agent, in a process of its own so that it can stand in another network namespace. It reads commands from standard input and writes events to
 * standard output, each one line of JSON. Its frames are checked against the contract, unless it is hostile (`raw`).
 */
const [port = '0', host = '0.0.0.0'] = process.argv.slice(2);
let desired: unknown;
const verifyingSchema = z.enum(['ok', 'silent', 'error', 'revoked', 'wrong']);
let verifying: z.infer<typeof verifyingSchema> = 'ok';
let refusal: number | undefined;
let clock_ms = 0;
let no_sockets = false;
/** Whether it confirms frames. */
let is_noting = false;
/** Interval of its `ping`, in ms; none before it is set. */
let heartbeat: NodeJS.Timeout | undefined;
const sockets = new Set<WebSocket>();

/** Acknowledgement of a stored frame. */
function notedOf(frame: Said): Told | undefined {
  if (frame.kind === 'ack') return undefined;
  const is_event = frame.kind === 'event';
  return toldSchema.parse({ kind: 'noted', seq: is_event ? null : frame.seq, events: is_event ? [frame.id] : [] });
}

const tell = (event: unknown) => process.stdout.write(`${JSON.stringify(event)}\n`);
const at = () => new Date(Date.now() + clock_ms).toISOString();

const recordSchema = z.record(z.string(), z.unknown());
const bodyOf = async (request: IncomingMessage) => recordSchema.parse(JSON.parse((await text(request)) || '{}'));

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

const problem = (status: number, code: string) => ({ type: 'about:blank', title: code, status, detail: code, code });

const server = createServer((request, response) => {
  void (async () => {
    const body = await bodyOf(request);
    if (request.url === '/api/agent/verify') {
      tell({ event: 'verify', verifying });
      if (verifying === 'ok') answer(response, 200, { nonce: body['nonce'], at: at() });
      else if (verifying === 'wrong') answer(response, 200, { nonce: '0'.repeat(32), at: at() });
      else if (verifying === 'revoked') answer(response, 401, problem(401, 'device_revoked'));
      else if (verifying === 'error') answer(response, 500, problem(500, 'internal'));
      return;
    }
    if (request.url === '/api/agent/poll') {
      if (refusal !== undefined) {
        answer(
          response,
          refusal === 4410 ? 401 : 409,
          problem(refusal === 4410 ? 401 : 409, refusal === 4410 ? 'device_revoked' : 'device_in_use'),
        );
        return;
      }
      const frames = z.array(z.unknown()).parse(body['said']);
      for (const frame of frames) tell({ event: 'said', frame, by: 'poll' });
      tell({ event: 'hello', hello: body['hello'], by: 'poll' });
      const noted = is_noting ? frames.flatMap((frame) => notedOf(saidSchema.parse(frame)) ?? []) : [];
      const welcome = { kind: 'welcome', at: at(), heartbeat_ms: 20_000 };
      answer(response, 200, { told: [welcome, ...(desired === undefined ? [] : [desired]), ...noted] });
      return;
    }
    answer(response, 404, problem(404, 'not_found'));
  })();
});

const websockets = new WebSocketServer({ noServer: true });
server.on('upgrade', (request, socket, head) => {
  if (no_sockets || request.url !== `/api${agentChannel.path}`) {
    socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
    return;
  }
  websockets.handleUpgrade(request, socket, head, (peer) => {
    let is_known = false;
    peer.on('message', (bytes: Buffer) => {
      const json: unknown = JSON.parse(bytes.toString());
      if (!is_known) {
        const hello = agentChannel.hello.parse(json);
        tell({ event: 'hello', hello });
        if (refusal !== undefined) {
          peer.close(refusal);
          return;
        }
        is_known = true;
        sockets.add(peer);
        peer.send(JSON.stringify(toldSchema.parse({ kind: 'welcome', at: at(), heartbeat_ms: 20_000 })));
        if (desired !== undefined) peer.send(JSON.stringify(desired));
        return;
      }
      const said = agentChannel.said.safeParse(json);
      // Its answer to a ping is a frame of every channel.
      if (recordSchema.safeParse(json).data?.['kind'] === 'pong') {
        tell({ event: 'pong' });
        return;
      }
      const noted = said.success ? notedOf(said.data) : undefined;
      if (noted !== undefined && (is_noting || (heartbeat !== undefined && said.data?.kind === 'report')))
        peer.send(JSON.stringify(noted));
      tell(said.success ? { event: 'said', frame: said.data } : { event: 'malformed', json });
    });
    peer.on('close', (code) => {
      sockets.delete(peer);
      tell({ event: 'closed', code });
    });
  });
});

createInterface(process.stdin).on('line', (line) => {
  const command = recordSchema.parse(JSON.parse(line));
  if ('desired' in command) {
    desired = command['desired'] === null ? undefined : toldSchema.parse(command['desired']);
    for (const socket of sockets) socket.send(JSON.stringify(desired));
  }
  if ('raw' in command) for (const socket of sockets) socket.send(String(command['raw']).repeat(Number(command['times'] ?? 1)));
  if ('verifying' in command) verifying = verifyingSchema.parse(command['verifying']);
  if ('heartbeat_ms' in command) {
    clearInterval(heartbeat);
    // As a server does: pings, and a word for each report.
    heartbeat = setInterval(() => {
      for (const socket of sockets) socket.send(JSON.stringify(toldSchema.parse({ kind: 'ping' })));
    }, Number(command['heartbeat_ms']));
  }
  if ('clock_ms' in command) clock_ms = Number(command['clock_ms']);
  if ('noting' in command) is_noting = command['noting'] === true;
  if ('no_sockets' in command) no_sockets = command['no_sockets'] === true;
  if ('refusal' in command) {
    refusal = command['refusal'] === null ? undefined : Number(command['refusal']);
    for (const socket of sockets) if (refusal !== undefined) socket.close(refusal);
  }
  if ('told' in command) for (const socket of sockets) socket.send(JSON.stringify(toldSchema.parse(command['told'])));
});

server.listen(Number(port), host, () => tell({ event: 'listening' }));
