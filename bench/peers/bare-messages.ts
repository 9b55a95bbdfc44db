// Peer of names-over-https.ts: a bare Fastify that answers each DNS message with the same bytes. `node bench/peers/bare-messages.ts BASE64URL`
import Fastify from 'fastify';

const answer = Buffer.from(process.argv[2] ?? '', 'base64url');
const app = Fastify();
app.addContentTypeParser('application/dns-message', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post('/dns/:key', async (_request, reply) => reply.type('application/dns-message').send(answer));
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
