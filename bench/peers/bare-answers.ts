// Peer of dashboard.ts: Fastify that answers each recorded JSON value under its number, and nothing else. `node bench/peers/bare-answers.ts FILE`, a JSON list.
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
