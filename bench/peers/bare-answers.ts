// Peer of dashboard.ts: a bare Fastify that returns each recorded JSON value at the path of its index. `node bench/peers/bare-answers.ts FILE`, a JSON array.
import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { z } from 'zod';

const app = Fastify();
for (const [index, value] of z
  .array(z.unknown())
  .parse(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')))
  .entries())
  app.get(`/${index}`, async () => value);
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
