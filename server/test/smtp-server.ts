import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { afterFile } from './after-file.ts';

/** A letter as it went over the wire. */
interface ReceivedLetter {
  from: string;
  to: string;
  /** Headers and body, with quoted-printable undone. */
  content: string;
}

export interface SmtpServer {
  url: string;
  received: ReceivedLetter[];
  /** Answer to `RCPT TO` from now on; `250` accepts. */
  answerRecipients(line: string | ((recipient: string) => string)): void;
  /** From now on letters are read, and not answered. */
  holdLetters(): void;
  /** Ends all connections. */
  dropAll(): void;
  stopListening(): void;
  /** From now on letters are refused, and quoted in the refusal. */
  quoteLetters(): void;
}

/** RFC 2045 section 6.7, for letters in ASCII. */
function decode(content: string): string {
  return content
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** As much of a mail server as delivers a letter (RFC 5321), on loopback. */
export async function startSmtpServer(): Promise<SmtpServer> {
  const received: ReceivedLetter[] = [];
  const sockets = new Set<Socket>();
  let answerTo: (recipient: string) => string = () => '250 ok';
  let areHeld = false;
  let areQuoted = false;

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    let letter: ReceivedLetter = { from: '', to: '', content: '' };
    let isContent = false;
    const answer = (line: string) => socket.write(`${line}\r\n`);
    answer('220 mail.test ready');
    createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      if (isContent) {
        if (line !== '.') {
          letter.content += `${line.replace(/^\./, '')}\n`;
          return;
        }
        isContent = false;
        const content = decode(letter.content);
        received.push({ ...letter, content });
        if (areHeld) return;
        answer(areQuoted ? `550 this looks like spam: ${content.replace(/^.*?\n\n/s, '').replaceAll(/\s+/g, ' ')}` : '250 taken');
        return;
      }
      const [verb = ''] = line.split(/[ :]/, 1);
      switch (verb.toUpperCase()) {
        case 'EHLO':
        case 'HELO':
          answer('250 mail.test');
          return;
        case 'MAIL':
          letter = { from: /<(.*?)>/.exec(line)?.[1] ?? '', to: '', content: '' };
          answer('250 ok');
          return;
        case 'RCPT':
          letter.to = /<(.*?)>/.exec(line)?.[1] ?? '';
          answer(answerTo(letter.to));
          return;
        case 'DATA':
          isContent = true;
          answer('354 go on');
          return;
        case 'QUIT':
          socket.end('221 bye\r\n');
          return;
        default:
          answer('250 ok');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the mail server has no port');
  afterFile(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    received,
    answerRecipients(line) {
      answerTo = typeof line === 'string' ? () => line : line;
    },
    holdLetters() {
      areHeld = true;
    },
    dropAll() {
      for (const socket of sockets) socket.destroy();
    },
    stopListening: () => void server.close(),
    quoteLetters() {
      areQuoted = true;
    },
  };
}
