import type { IncomingMessage } from 'node:http';

/** Reads the whole body of a response. @throws Error if it is incomplete or longer than the maximum */
export function wholeAnswer(response: IncomingMessage, bytes_maximum: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    response.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > bytes_maximum) response.destroy(new Error('the answer is too long'));
      else parts.push(part);
    });
    response.on('error', reject);
    response.on('end', () => resolve(Buffer.concat(parts)));
  });
}
