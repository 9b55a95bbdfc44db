// Load generator of names-over-https.ts: sends DNS queries as several devices at a constant total rate. `node bench/peers/ask-names.ts PORT PER_SECOND DEVICE...`; a device is a loopback address, which sends
// plain DNS, or a key, which sends DNS over HTTP. Prints answers per second when it is ended.
import { createSocket } from 'node:dgram';
import { connect, isIP, type Socket } from 'node:net';

const [port = 0, per_second = 1] = process.argv.slice(2, 4).map(Number);
const EVERY_MS = 1;
const DONE = 'HTTP/1.1 200';
let answered = 0;

function overUdp(address: string): (message: Buffer) => void {
  const socket = createSocket('udp4').on('message', () => answered++);
  socket.bind(0, address);
  return (message) => socket.send(message, port, '127.0.0.1');
}

/** Returns a function that sends queries over a persistent HTTP connection, which is reopened when the server closes it. */
function overHttp(key: string): (message: Buffer) => void {
  let socket: Socket;
  const open = () => {
    socket = connect(port, '127.0.0.1').setNoDelay(true);
    socket.on('data', (bytes) => {
      for (let at = bytes.indexOf(DONE); at >= 0; at = bytes.indexOf(DONE, at + 1)) answered++;
    });
    socket.on('error', () => {}).on('close', open);
  };
  open();
  const head = `POST /dns/${key} HTTP/1.1\r\nHost: localhost:${port}\r\ncontent-type: application/dns-message\r\naccept: application/dns-message\r\n`;
  return (message) => socket.write(Buffer.concat([Buffer.from(`${head}content-length: ${message.length}\r\n\r\n`), message]));
}

const devices = process.argv.slice(4).map((device) => (isIP(device) === 0 ? overHttp(device) : overUdp(device)));
const began = performance.now();
let sent = 0;
setInterval(() => {
  for (const due = ((performance.now() - began) * per_second) / 1_000; sent < due; sent++) {
    const label = `host${String(sent % 2_000).padStart(4, '0')}`;
    const name = `\x08${label}\x04site\x07example\0`;
    devices[sent % devices.length]?.(Buffer.from(`\0\x01\x01\0\0\x01\0\0\0\0\0\0${name}\0\x01\0\x01`, 'latin1'));
  }
}, EVERY_MS);
process.on('SIGTERM', () => {
  process.stdout.write(String(Math.round((answered * 1_000) / (performance.now() - began))), () => process.exit());
});
