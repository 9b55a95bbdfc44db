import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer } from 'node:tls';

/**
 * Simulates the network between a computer and its server in a separate namespace: answers DNS queries for the server's name, and terminates TLS like a reverse proxy.
 * Forwards connections through a Unix socket, which leads out of the namespace.
 * \n     node relay.ts ADDRESS NAME KEY CERTIFICATE SOCKET
 */
const [address = '', name = '', key = '', certificate = '', socket = ''] = process.argv.slice(2);

const tls = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (peer) => {
  const inner = connect(socket);
  peer.pipe(inner).pipe(peer);
  peer.on('error', () => inner.destroy());
  inner.on('error', () => peer.destroy());
  peer.on('close', () => inner.destroy());
  inner.on('close', () => peer.destroy());
});

/** The name in a DNS question, and the offset of the question's end (RFC 1035 section 4.1.2). */
function questionOf(query: Buffer): { asked: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += 1 + length;
  }
  return { asked: labels.join('.').toLowerCase(), end: at + 5 };
}

const A = 1;
const dns = createSocket('udp4', (query, from) => {
  const { asked, end } = questionOf(query);
  const is_address = asked === name && query.readUInt16BE(end - 4) === A;
  const head = Buffer.from(query.subarray(0, 12));
  // A recursive answer; NXDOMAIN for any other name.
  head.writeUInt16BE(asked === name ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(is_address ? 1 : 0, 6);
  head.writeUInt32BE(0, 8);
  const record = Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]);
  dns.send(Buffer.concat([head, query.subarray(12, end), ...(is_address ? [record] : [])]), from.port, from.address);
});

dns.bind(53, address, () => tls.listen(443, address, () => process.stdout.write('ready\n')));
