// Peer of a list in cluster.ts: Fastify with one route that reads one person's firewall rules by their index. `node bench/peers/bare-query.ts PORT`, with DATABASE_URL and USER_ID.
import Fastify from 'fastify';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
const app = Fastify();
app.get('/api/firewall/rules', async () => {
  const { rows }: { rows: unknown[] } = await pool.query('select * from firewall_rules where user_id = $1 order by id', [
    process.env['USER_ID'],
  ]);
  return rows;
});
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) });
