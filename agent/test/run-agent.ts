import { runAgent } from '#agent/agent.ts';
import { identityStore } from '#link/identity.ts';

/** The agent with shorter times, so that a test need not wait for minutes. */
const [state = '', run = '', trial = '2000', grace = '1500', report = '300', warming = '200', back_off = '400'] =
  process.argv.slice(2);
const identity = await identityStore(state).read();
if (identity === undefined) throw new Error('no identity');
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const ended = await runAgent({
  identity,
  folders: { state, run },
  log: (line) => process.stdout.write(`${line}\n`),
  signal: stop.signal,
  environment: process.env,
  signatures: new URL('../../server/signatures/rules', import.meta.url).pathname,
  times: {
    report: Number(report),
    trial: Number(trial),
    revoked_grace: Number(grace),
    warming: Number(warming),
    back_off: Number(back_off),
  },
});
process.stdout.write(`ended: ${ended}\n`);
process.exit();
