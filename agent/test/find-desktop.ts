import { findDesktop } from '#control/desktop.ts';
import { readActiveSession } from '#control/login-session.ts';

// Looks for the desktop again and again for so many seconds, and prints how often each answer came.
const [seconds = '1'] = process.argv.slice(2);
const answers = new Map<string, number>();
for (const end = performance.now() + Number(seconds) * 1_000; performance.now() < end; ) {
  const desktop = await findDesktop({}, await readActiveSession());
  const facts =
    desktop.kind === 'x11' ? `${desktop.display} ${desktop.uid} ${desktop.xauthority?.toString() ?? ''}` : desktop.kind;
  answers.set(facts, (answers.get(facts) ?? 0) + 1);
}
process.stdout.write(`${JSON.stringify(Object.fromEntries(answers))}\n`);
