// Peer of names-over-https.ts: Fastify that answers each message of DNS with the same bytes, and nothing else. `node bench/peers/bare-messages.ts BASE64URL`
import Fastify from 'fastify';

const answer = Buffer.from(process.argv[2] ?? '', 'base64url');
const app = Fastify();
app.addContentTypeParser('application/dns-message', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post('/dns/:key', async (_request, reply) => reply.type('application/dns-message').send(answer));
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
