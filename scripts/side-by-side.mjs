// Runs a command with what servers share between them: `node scripts/side-by-side.mjs node bench/cluster.ts`. A PostgreSQL, a store that speaks S3 and a Redis of its own,
// on loopback, gone afterwards; JOURNEY_DATABASE_URL, JOURNEY_STORAGE_URL and JOURNEY_REDIS_URL tell the command where they are, TEST_... the tests.
import { spawn } from 'node:child_process';
import { startPostgres } from './postgres.mjs';
import { startRedis } from './redis.mjs';
import { startS3 } from './s3.mjs';

const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  process.stdout.write('palisade: say what to run: node scripts/side-by-side.mjs node bench/cluster.ts\n');
  process.exit(1);
}
const services = await Promise.all([startPostgres(), startS3(), startRedis()]);
/** @type {Record<string, string>} */
const environment = {};
let code = 1;
const missing = services.flatMap((service) => ('skipped' in service ? [service.skipped] : []));
if (missing.length > 0) process.stdout.write(`palisade: ${missing.join('; ')}\n`);
else {
  for (const [index, name] of ['DATABASE', 'STORAGE', 'REDIS'].entries()) {
    const service = services[index];
    const url = service !== undefined && 'url' in service ? service.url : '';
    environment[`JOURNEY_${name}_URL`] = url;
    environment[`TEST_${name}_URL`] = url;
  }
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  code = await new Promise((resolve) => child.once('exit', (status) => resolve(status ?? 1)));
}
for (const service of services) if ('stop' in service) await service.stop();
process.exit(code);
