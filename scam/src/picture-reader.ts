import { type ChildProcess, fork } from 'node:child_process';
import { PIXELS_MAXIMUM, pictureSize, SIDE_MAXIMUM } from './picture-header.ts';
import type { NotCheckedCode } from './sentences.ts';

export type CodeReading = { codes: { format: string; text: string }[] } | { code: NotCheckedCode };

const PROCESS_FILE = new URL(import.meta.url.endsWith('.ts') ? './picture-process.ts' : './picture-process.js', import.meta.url);
/** One picture of a telephone takes 0.3 s; a process that takes longer than this is ended. */
const DEADLINE_MS = 8_000;
/** An idle process is ended after this. */
const IDLE_MS = 30_000;
/** Formats that the decoder reads. */
const DECODED = new Set(['png', 'jpeg', 'gif', 'bmp']);

function isReply(message: unknown, id: number): message is { id: number; codes: { format: string; text: string }[] | undefined } {
  return typeof message === 'object' && message !== null && 'id' in message && message.id === id && 'codes' in message;
}

/** Reads codes of pictures in a process of its own, one picture at a time. */
export class PictureReader {
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  /** The header is read before anything is decoded, so that a picture of 30,000 x 30,000 costs nothing. */
  read(picture: Uint8Array): Promise<CodeReading> {
    const size = pictureSize(picture);
    if (size === undefined || !DECODED.has(size.format)) return Promise.resolve({ code: 'picture_format' });
    if (size.width === 0 || size.height === 0) return Promise.resolve({ code: 'picture_broken' });
    if (size.width > SIDE_MAXIMUM || size.height > SIDE_MAXIMUM || size.width * size.height > PIXELS_MAXIMUM)
      return Promise.resolve({ code: 'too_large' });
    const reading = this.#last.then(() => this.#ask(picture));
    this.#last = reading.catch(() => undefined);
    return reading;
  }

  /** Ends the process. A picture that is being read gets no answer from it. */
  close(): void {
    clearTimeout(this.#idle);
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const child = fork(PROCESS_FILE, [], {
      serialization: 'advanced',
      execArgv: ['--max-old-space-size=128', '--disable-warning=ExperimentalWarning'],
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.unref();
    child.channel?.unref();
    return child;
  }

  #ask(picture: Uint8Array): Promise<CodeReading> {
    clearTimeout(this.#idle);
    const child = this.#child ?? this.#start();
    this.#child = child;
    this.#count += 1;
    const id = this.#count;
    return new Promise<CodeReading>((resolve) => {
      const finish = (reading: CodeReading, isBroken: boolean) => {
        clearTimeout(deadline);
        child.off('message', hear);
        child.off('exit', fail);
        child.off('error', fail);
        child.channel?.unref();
        if (isBroken) this.close();
        else this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
        resolve(reading);
      };
      const hear = (message: unknown) => {
        if (isReply(message, id))
          finish(message.codes === undefined ? { code: 'picture_broken' } : { codes: message.codes }, false);
      };
      const fail = () => finish({ code: 'picture_broken' }, true);
      const deadline = setTimeout(() => finish({ code: 'took_too_long' }, true), DEADLINE_MS);
      child.channel?.ref();
      child.on('message', hear);
      child.once('exit', fail);
      child.once('error', fail);
      child.send({ id, picture }, (error) => {
        if (error !== null) fail();
      });
    });
  }
}
