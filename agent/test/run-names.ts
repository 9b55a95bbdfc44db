import { lookup } from 'node:dns';
import { createWebProtection } from '#names/create-web-protection.ts';

/** Web protection of a computer without the rest of its agent. It looks often, so that a test sees many looks. */
const [server = '', folder = '', key = ''] = process.argv.slice(2);
const LOOK_MS = 300;
const say = (line: string) => process.stdout.write(`${line}\n`);
const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const protection = createWebProtection({ identity: { server }, folder, lookup, wait, log: say });
process.once('SIGTERM', () => void protection.close().then(() => process.exit()));
await protection.start();
await protection.want({ key });
say(`state ${JSON.stringify(protection.state())}`);
setInterval(() => void protection.check(), LOOK_MS);
