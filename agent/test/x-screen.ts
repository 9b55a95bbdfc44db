import { createServer } from 'node:net';

// A stand-in for an X server: it listens on the socket of a display, and answers nothing. `node x-screen.ts /tmp/.X11-unix/X7` prints `ready`.
const [path = ''] = process.argv.slice(2);
createServer(() => {}).listen(path.startsWith('@') ? `\0${path.slice(1)}` : path, () => process.stdout.write('ready\n'));
